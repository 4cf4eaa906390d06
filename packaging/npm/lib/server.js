"use strict";

const { findBinary } = require("./binary.js");
const { Control, MinibusError, variable } = require("./control.js");
const { checkOptions, entities, query, shown } = require("./forms.js");
const { Namespace } = require("./namespace.js");

const startTime = 30_000; // how long a start may take, in milliseconds
const stopTime = 5_000; // and a stop
const namespaceOptions = ["name", "limits", "config", "queues", "topics"];
const startOptions = ["queues", "topics", "config", "limits", "seed", "data", "args", "env", "binary"];
const readyLine = "Emulator Service is Successfully Up!";
const logLength = 65_536; // how much of the log an error shows, in characters

/** A running Minibus, seen through its default namespace. */
class Minibus extends Namespace {
  #control;
  #process;

  constructor(control, info, process) {
    super(control, info);
    this.#control = control;
    this.#process = process;
  }

  static async start(options = {}) {
    checkOptions("start", options, startOptions);
    const declared = { queues: options.queues, topics: options.topics };
    const form = entities(declared);
    const server = await ServerProcess.start(options);
    try {
      const bus = await Minibus.#open(server.address, server);
      if (options.config !== undefined && (options.queues || options.topics)) await bus.put(declared);
      else if (options.config === undefined) await bus.request("POST", "config/diff", form); // finds typos
      return bus;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  static async connect(connectionString = process.env[variable]) {
    if (!connectionString) {
      throw new MinibusError(
        `There is no connection string: run the tests under npx minibus run, set ${variable}, or pass one.`,
      );
    }
    const address = connectionString.href ?? connectionString;
    if (typeof address !== "string") {
      throw new TypeError(`connect() takes a connection string or a URL, not ${shown(address)}`);
    }
    return Minibus.#open(address);
  }

  static async #open(address, server) {
    const control = new Control(address, server);
    return new Minibus(control, await control.ask("GET", "/namespaces/$this"), server);
  }

  /** The id of the process; undefined if it was not started here. */
  get pid() {
    return this.#process?.pid;
  }

  /** What the server has printed and logged, the end of it. */
  get log() {
    return this.#process?.log ?? "";
  }

  async namespace(options = {}) {
    checkOptions("namespace", options, namespaceOptions);
    const { name, limits, config, ...declared } = options;
    const body = config === undefined ? entities(declared) : await configText(config);
    const info = await this.#control.ask("POST", "/namespaces" + query({ name, limits }), body);
    const bus = new Namespace(this.#control, info);
    if (config !== undefined && (declared.queues || declared.topics)) await bus.put(declared);
    return bus;
  }

  /** Stops the server if it was started here; one that it is connected to goes on. */
  async stop() {
    await this.#process?.stop();
  }
}

async function configText(config) {
  if (typeof config !== "string") return JSON.stringify(config);
  return require("node:fs/promises").readFile(config, "utf8");
}

/** A Minibus that runs as a child of this process, and does not keep it from ending. */
class ServerProcess {
  #child;
  #ended;
  #log = "";

  static async start(options) {
    const server = new ServerProcess(options);
    try {
      server.address = await server.#ready();
    } catch (error) {
      await server.stop();
      throw error;
    }
    server.#hold(false);
    return server;
  }

  constructor({ binary, queues, topics, config, limits, seed, data, args = [], env = {} }) {
    const { spawn } = require("node:child_process");
    const files = typeof config === "string" || Array.isArray(config) ? [config].flat() : undefined;
    const declared = () => ({ UserConfig: { Namespaces: [{ Name: "sbemulatorns", ...entities({ queues, topics }) }] } });
    const input = files ? undefined : (config ?? declared());
    const ports = "--amqp-port 0 --tls-port off --http-port off --namespace-ports 0"; // one port speaks all protocols
    const flags = [...(files ?? ["-"]).flatMap((file) => ["--config", file]), ...ports.split(" ")];
    if (limits) flags.push("--limits", limits);
    for (const file of [seed ?? []].flat()) flags.push("--seed", file);
    flags.push(...(data ? ["--data", data] : ["--ephemeral"]), ...args);
    this.rootKey = env.MINIBUS_ROOT_KEY ?? "SAS_KEY_VALUE";
    try {
      this.#child = spawn(findBinary(binary), flags, { env: environment(env), stdio: "pipe", windowsHide: true });
    } catch (error) {
      throw new MinibusError(error.message, { cause: error });
    }
    this.#ended = new Promise((resolve) => {
      this.#child.on("error", (error) => resolve(`can't be run: ${error.message}`));
      this.#child.on("close", (code, signal) =>
        resolve(signal ? `was ended by ${signal}` : `ended with exit code ${code}`),
      );
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        this.#log = (this.#log + text).slice(-logLength);
      });
    }
    this.#child.stdin.on("error", () => {}); // it has ended
    if (input) this.#child.stdin.write(JSON.stringify(input)); // and stays open: its end is the server's
  }

  get pid() {
    return this.#child.pid;
  }

  get log() {
    return this.#log;
  }

  // ready waits for the line that says so, and returns the connection string that stands above it.
  async #ready() {
    let timer;
    const ready = new Promise((resolve, reject) => {
      const look = () => {
        if (!this.#log.includes(readyLine)) return;
        this.#child.stdout.off("data", look);
        resolve(/^Connection string: (Endpoint=\S+)/m.exec(this.#log)[1]);
      };
      this.#child.stdout.on("data", look);
      this.#ended.then((how) => reject(new MinibusError(this.#text(`${how} before it was ready`))));
      timer = setTimeout(
        () => reject(new MinibusError(this.#text(`was not ready after ${startTime / 1000} s`))),
        startTime,
      );
    });
    try {
      return (await ready).replace("SharedAccessKey=...", `SharedAccessKey=${this.rootKey}`);
    } finally {
      clearTimeout(timer);
    }
  }

  #text(how) {
    return `Minibus ${how}: ${this.#child.spawnargs.join(" ")}\n${this.#log}`.trimEnd();
  }

  /** Says how it ended, if that is why a request failed. */
  async ending(failure) {
    if (!["ECONNREFUSED", "ECONNRESET", "EPIPE"].includes(failure.code)) return undefined;
    const how = await Promise.race([this.#ended, new Promise((resolve) => setTimeout(resolve, 1000))]);
    return how && this.#text(how);
  }

  // hold says whether this process waits for the child.
  #hold(on) {
    const { stdin, stdout, stderr } = this.#child;
    for (const handle of [this.#child, stdin, stdout, stderr]) handle[on ? "ref" : "unref"]();
  }

  async stop() {
    this.stopped = true;
    this.#hold(true);
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), stopTime);
    await this.#ended;
    clearTimeout(timer);
  }
}

// environment is this one without the settings of another Minibus. The server ends with its input, however this process
// ends.
function environment(more) {
  const own = Object.entries(process.env).filter(([name]) => !/^(MINIBUS_|EMULATOR_HTTP_PORT$)/i.test(name));
  return { ...Object.fromEntries(own), MINIBUS_EXIT_WITH_STDIN: "true", ...more };
}

module.exports = { Minibus };
