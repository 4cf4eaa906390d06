"use strict";

const http = require("node:http");
const { milliseconds, parse, stringify } = require("./forms.js");

const connectTime = 10_000; // how long a connection may take, in milliseconds
const patience = { answer: 30_000 }; // and an answer, besides the time that the request itself waits
const localHost = /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])\.?$/;
const variable = "SERVICEBUS_CONNECTION_STRING";

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

/** A request to a server that was stopped here. */
class StoppedError extends MinibusError {
  constructor(cause) {
    super("You stopped this Minibus: start another one with Minibus.start(), or call stop() later.", { cause });
  }
}

/** A server takes a request, and gives no answer. */
class Silence extends Error {
  constructor(origin, time) {
    super(
      `${origin} accepts connections but does not answer. Is it a Minibus? It had ${Math.round(time / 1000)} s. ` +
        "If Minibus.connect() names another program, give it the connection string that Minibus prints.",
    );
  }
}

/** Returns how long a request waits for what it asks for, in milliseconds. */
function waitingTime(path, body) {
  const query = new URLSearchParams(path.split("?")[1]);
  const seconds = Number(body?.timeoutSeconds ?? query.get("timeoutSeconds"));
  if (seconds > 0) return Math.min(seconds, 86_400) * 1000;
  const wait = body?.wait ?? query.get("wait");
  try {
    return wait ? milliseconds(wait) : usualTime(path);
  } catch {
    return 0; // the answer says what is wrong with it
  }
}

function usualTime(path) {
  if (/\/(?:snapshots|reset)\b/.test(path)) return 600_000; // they read and write everything
  return /\/(?:wait|clock)\b/.test(path) ? 60_000 : 0;
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
      if (!/^\s*true\s*$/i.test(parts.get("usedevelopmentemulator") ?? "")) this.#refuseStranger();
      if (parts.get("sharedaccesskey")) {
        this.#key = { name: parts.get("sharedaccesskeyname"), value: parts.get("sharedaccesskey") };
      }
    }
    this.#refuseAzure();
    if (this.origin.protocol === "https:") this.#transport = require("node:https");
  }

  #refuseAzure() {
    const { hostname } = this.origin;
    if (!/\.servicebus\./.test(hostname) || localHost.test(hostname)) return;
    throw new MinibusError(
      `${hostname} is a namespace of Azure, and nothing was sent to it. ` +
        "Give Minibus.connect() the connection string of a Minibus, or start one with Minibus.start().",
    );
  }

  // The key would go over the network in clear text.
  #refuseStranger() {
    this.#refuseAzure();
    const { hostname } = this.origin;
    if (localHost.test(hostname)) return;
    throw new MinibusError(
      `The connection string names ${hostname}, which is not this computer, and nothing was sent to it. ` +
        "If a Minibus runs there, add UseDevelopmentEmulator=true to the string.",
    );
  }

  /** Whether the server was stopped here. */
  get stopped() {
    return this.#process?.stopped ?? false;
  }

  /** Asks for a path below /$minibus/v1, and returns what the answer has. A body that is a text is sent as it is. */
  async ask(method, path, body) {
    if (this.stopped) throw new StoppedError();
    const text = body === undefined || typeof body === "string" ? body : stringify(body);
    const answer = await this.send(method, path, text, patience.answer + waitingTime(path, body));
    const value = answer.type.includes("json") ? parse(answer.text) : answer.text;
    if (answer.status < 300) return value === "" ? undefined : value;
    if (this.stopped) throw new StoppedError();
    const detail = value?.detail ?? `${this.origin} answers ${answer.status} to ${method} ${path}, and is no Minibus`;
    throw new MinibusError(detail, { status: answer.status, errors: value?.errors });
  }

  async send(method, path, text, answerTime) {
    try {
      return await this.#exchange(method, new URL("$minibus/v1" + path, this.origin), text, answerTime);
    } catch (cause) {
      if (this.stopped) throw new StoppedError(cause);
      if (cause instanceof Silence) throw new MinibusError(cause.message, { cause });
      const ended = await this.#process?.ending(cause);
      const why =
        ended ??
        `No Minibus answers at ${this.origin}: ${cause.message || cause.code}.\n` +
          "Start one with Minibus.start(), npx minibus, or npx minibus run. " +
          "Or give Minibus.connect() the connection string of one that runs.";
      throw new MinibusError(why, { cause });
    }
  }

  #exchange(method, url, text, answerTime) {
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
      request.setTimeout(answerTime, () => request.destroy(new Silence(this.origin, answerTime)));
      request.on("error", reject);
      request.end(text);
    });
  }
}

/** Returns the connection string of the variable, unless it is that of Azure or of another stranger. */
function namedMinibus() {
  const address = process.env[variable];
  try {
    if (address) new Control(address);
  } catch (error) {
    if (error instanceof MinibusError) return undefined;
  }
  return address;
}

function token(resource, key) {
  const { createHmac } = require("node:crypto");
  const audience = encodeURIComponent(resource);
  const expires = Math.floor(Date.now() / 1000) + 3600;
  const signature = createHmac("sha256", key.value).update(`${audience}\n${expires}`).digest("base64");
  const name = encodeURIComponent(key.name);
  return `SharedAccessSignature sr=${audience}&sig=${encodeURIComponent(signature)}&se=${expires}&skn=${name}`;
}

module.exports = { Control, MinibusError, StoppedError, namedMinibus, patience, variable };
