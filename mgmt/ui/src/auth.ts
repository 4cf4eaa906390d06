// The key that Minibus asks for with --auth sas. It stays in this tab, in its session storage, until the tab is closed.
import { signal } from "@preact/signals";
import { kept } from "./kept";

interface Key {
  host: string;
  name: string;
  value: string;
}

// asksForKey is set when the server has refused a request for want of a valid token.
export const asksForKey = signal(false);

const connection = kept(() => sessionStorage, "minibus.connection", "");
const lifetime = 3600; // seconds
let token: { text: string; until: number; of: string } | undefined;

export function needKey(): void {
  token = undefined;
  asksForKey.value = true;
}

// useKey takes a connection string. It throws if that has no key.
export function useKey(text: string): void {
  parse(text);
  if (!globalThis.crypto?.subtle) {
    throw new Error("Browsers sign requests only on localhost or over TLS. Open this page as http://localhost or with https.");
  }
  connection.value = text.trim();
  token = undefined;
  asksForKey.value = false;
}

export function forgetKey(): void {
  connection.value = "";
  needKey();
}

// refusedConnection is the connection string that the form for it begins with: one that was refused can be corrected.
export const refusedConnection = (): string => connection.value;

export const hasKey = (): boolean => connection.value !== "";

// parse reads a connection string.
function parse(text: string): Key {
  const fields = new Map<string, string>();
  for (const part of text.trim().split(";")) {
    const at = part.indexOf("=");
    if (at > 0) fields.set(part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim());
  }
  const endpoint = fields.get("endpoint"), name = fields.get("sharedaccesskeyname"), value = fields.get("sharedaccesskey");
  if (!endpoint || !name || !value) {
    throw new Error("This isn’t a connection string with a key. It looks like Endpoint=sb://localhost:5672;SharedAccessKeyName=...;SharedAccessKey=...");
  }
  const host = /^[a-z]+:\/\/([^/?#]+)/i.exec(endpoint)?.[1];
  if (!host) throw new Error("The Endpoint of the connection string is not an address such as sb://localhost.");
  return { host, name, value };
}

// authorization returns the headers that show who asks: none without a key.
export async function authorization(): Promise<Record<string, string>> {
  if (!connection.value) return {};
  const now = Math.floor(Date.now() / 1000);
  if (!token || token.of !== connection.value || token.until < now + 60) {
    const until = now + lifetime;
    token = { text: await sign(parse(connection.value), until), until, of: connection.value };
  }
  return { Authorization: token.text };
}

// sign makes a shared access signature for the whole namespace.
async function sign(key: Key, until: number): Promise<string> {
  const bytes = (s: string) => new TextEncoder().encode(s);
  const resource = encodeURIComponent(`sb://${key.host}/`);
  const secret = await crypto.subtle.importKey("raw", bytes(key.value), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", secret, bytes(`${resource}\n${until}`)));
  const signature = encodeURIComponent(btoa(String.fromCharCode(...mac)));
  return `SharedAccessSignature sr=${resource}&sig=${signature}&se=${until}&skn=${encodeURIComponent(key.name)}`;
}
