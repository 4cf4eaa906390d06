import { createHmac } from "node:crypto";
import createClient from "openapi-fetch";

/**
 * Returns a client for the Minibus of a connection string, with a token that lasts options.tokenLife seconds. Other options are those of
 * openapi-fetch.
 */
export function connect(connectionString, { tokenLife = 3600, ...options } = {}) {
  const parts = Object.fromEntries(
    connectionString.split(";").filter((p) => p.includes("=")).map((p) => [p.slice(0, p.indexOf("=")), p.slice(p.indexOf("=") + 1)]));
  const emulator = /^true$/i.test(parts.UseDevelopmentEmulator ?? "");
  const { host, port } = new URL(parts.Endpoint.replace(/^sb:/, "http:"));
  const baseUrl = `${emulator ? "http" : "https"}://${host}${emulator && !port ? ":5300" : ""}`;
  return createClient({ ...options, baseUrl, headers: { ...options.headers, Authorization: token(`${baseUrl}/`, parts, tokenLife) } });
}

function token(resource, parts, life) {
  const expires = Math.floor(Date.now() / 1000 + life);
  const signature = createHmac("sha256", parts.SharedAccessKey).update(`${encodeURIComponent(resource)}\n${expires}`).digest("base64");
  return `SharedAccessSignature sr=${encodeURIComponent(resource)}&sig=${encodeURIComponent(signature)}&se=${expires}` +
    `&skn=${encodeURIComponent(parts.SharedAccessKeyName)}`;
}
