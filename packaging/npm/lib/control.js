"use strict";

const http = require("node:http");
const { parse, stringify } = require("./forms.js");

const connectTime = 10_000; // how long a connection may take, in milliseconds

/** What went wrong: detail says what, where, and what to do; status is that of HTTP, if Minibus answered. */
class MinibusError extends Error {
  constructor(detail, { status, errors, cause } = {}) {
    super(detail, cause && { cause });
    this.name = "MinibusError";
    this.status = status;
    this.detail = detail;
    this.errors = errors ?? [];
  }
}

/** Sends requests to the control API of a Minibus. */
class Control {
  #key;
  #process;
  #transport = http;

  /** Takes a connection string, or the URL of any port. A process, if given, says how it ended. */
  constructor(address, process) {
    this.#process = process;
    if (/^https?:\/\//.test(address)) {
      this.origin = new URL("/", address);
    } else {
      const parts = new Map(
        address
          .split(";")
          .filter((part) => part.includes("="))
          .map((part) => {
            const [name, ...value] = part.split("=");
            return [name.trim().toLowerCase(), value.join("=")];
          }),
      );
      const endpoint = parts.get("endpoint");
      if (!URL.canParse(endpoint)) {
        throw new TypeError("The connection string has no Endpoint: copy the whole string, as Minibus prints it.");
      }
      const { hostname, port } = new URL(endpoint);
      this.origin = new URL(`http://${hostname}:${port || 5672}/`);
      if (parts.get("sharedaccesskey")) {
        this.#key = { name: parts.get("sharedaccesskeyname"), value: parts.get("sharedaccesskey") };
      }
    }
    if (this.origin.protocol === "https:") this.#transport = require("node:https");
  }

  /** Whether the server was stopped here. */
  get stopped() {
    return this.#process?.stopped ?? false;
  }

  /** Asks for a path below /$minibus/v1, and returns what the answer has. A body that is a text is sent as it is. */
  async ask(method, path, body) {
    const answer = await this.send(
      method,
      path,
      body === undefined || typeof body === "string" ? body : stringify(body),
    );
    const value = answer.type.includes("json") ? parse(answer.text) : answer.text;
    if (answer.status < 300) return value === "" ? undefined : value;
    const detail = value?.detail ?? `${this.origin} answers ${answer.status} to ${method} ${path}, and is no Minibus`;
    throw new MinibusError(detail, { status: answer.status, errors: value?.errors });
  }

  async send(method, path, text) {
    try {
      return await this.#exchange(method, new URL("$minibus/v1" + path, this.origin), text);
    } catch (cause) {
      const ended = await this.#process?.ending(cause);
      const why =
        ended ??
        `No Minibus answers at ${this.origin}: ${cause.message || cause.code}.\n` +
          "Start one with Minibus.start(), npx minibus, or npx minibus run. " +
          "Or give Minibus.connect() the connection string of one that runs.";
      throw new MinibusError(why, { cause });
    }
  }

  #exchange(method, url, text) {
    const headers = { accept: "application/json" };
    if (text !== undefined) {
      headers["content-type"] = "application/json";
      headers["content-length"] = Buffer.byteLength(text);
    }
    if (this.#key) headers.authorization = token(this.origin.href, this.#key);
    return new Promise((resolve, reject) => {
      const request = this.#transport.request(url, { method, headers, agent: false }, (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode,
            type: response.headers["content-type"] ?? "",
            text: Buffer.concat(chunks).toString(),
          }),
        );
      });
      const timer = setTimeout(() => request.destroy(new Error("no connection within 10 s")), connectTime);
      request.on("socket", (socket) => socket.on("connect", () => clearTimeout(timer)));
      request.on("close", () => clearTimeout(timer));
      request.on("error", reject);
      request.end(text);
    });
  }
}

function token(resource, key) {
  const { createHmac } = require("node:crypto");
  const audience = encodeURIComponent(resource);
  const expires = Math.floor(Date.now() / 1000) + 3600;
  const signature = createHmac("sha256", key.value).update(`${audience}\n${expires}`).digest("base64");
  const name = encodeURIComponent(key.name);
  return `SharedAccessSignature sr=${audience}&sig=${encodeURIComponent(signature)}&se=${expires}&skn=${name}`;
}

module.exports = { Control, MinibusError };
