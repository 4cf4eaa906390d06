import { createHmac } from "node:crypto";
import createClient from "openapi-fetch";

/** What Minibus refused: status is that of HTTP, detail says what is wrong, where, and what to do. */
export class ControlError extends Error {
  constructor(status, detail) {
    super(`${status}: ${detail}`);
    this.name = "ControlError";
    this.status = status;
    this.detail = detail;
  }
}

/**
 * Returns a client for the Minibus of a connection string, with a token that lasts options.tokenLife seconds. With options.throwErrors it
 * throws a ControlError for what Minibus refuses. Other options are those of openapi-fetch.
 */
export function connect(connectionString, { tokenLife = 3600, throwErrors = false, ...options } = {}) {
  const parts = Object.fromEntries(
    connectionString.split(";").filter((p) => p.includes("=")).map((p) => [p.slice(0, p.indexOf("=")), p.slice(p.indexOf("=") + 1)]));
  const missing = ["Endpoint", "SharedAccessKeyName", "SharedAccessKey"].filter((name) => !parts[name]);
  if (missing.length > 0) throw new TypeError(`the connection string lacks ${missing.join(", ")}: copy the whole string, as Minibus prints it at its start`);
  const emulator = /^true$/i.test(parts.UseDevelopmentEmulator ?? "");
  const { host, port } = new URL(parts.Endpoint.replace(/^sb:/, "http:"));
  const baseUrl = `${emulator ? "http" : "https"}://${host}${emulator && !port ? ":5300" : ""}`;
  const client = createClient({ ...options, baseUrl, headers: { ...options.headers, Authorization: token(`${baseUrl}/`, parts, tokenLife) } });
  if (throwErrors) client.use({ onResponse: refuse });
  return client;
}

async function refuse({ response }) {
  if (response.ok) return;
  const text = await response.text();
  let detail = text || response.statusText;
  try {
    detail = JSON.parse(text).detail ?? detail;
  } catch {
    // something else than Minibus answered
  }
  throw new ControlError(response.status, detail);
}

function token(resource, parts, life) {
  const expires = Math.floor(Date.now() / 1000 + life);
  const signature = createHmac("sha256", parts.SharedAccessKey).update(`${encodeURIComponent(resource)}\n${expires}`).digest("base64");
  return `SharedAccessSignature sr=${encodeURIComponent(resource)}&sig=${encodeURIComponent(signature)}&se=${expires}` +
    `&skn=${encodeURIComponent(parts.SharedAccessKeyName)}`;
}
