"use strict";

const { MinibusError, StoppedError } = require("./control.js");
const { checkOptions, dated, entities, isoDuration, messageOf, milliseconds, query, shown } = require("./forms.js");

// Jest's realm lacks it in Node.js 20.
const asyncDispose = Symbol.asyncDispose ?? Symbol.for("nodejs.asyncDispose");
const deadLetterQueue = "/$DeadLetterQueue";
const wholeBody = 262_144; // the most bytes of a body that the API shows

/** A namespace: entities, messages, keys and a clock, apart from all other namespaces. */
class Namespace {
  #control;

  constructor(control, info) {
    this.#control = control;
    this.name = info.name;
    this.connectionString = info.connectionString;
    this.explorerUrl = control.origin.href + (info.default ? "" : `#/${encodeURIComponent(info.name)}`);
    this.clock = new Clock(this);
    this.faults = new Faults(this);
  }

  request(method, path, body) {
    const below = path.replace(/^\/?(?=.)/, "/");
    return this.#control.ask(method, `/namespaces/${encodeURIComponent(this.name)}${below}`, body);
  }

  async put(declared) {
    checkOptions("put", declared, ["queues", "topics"]);
    await this.request("POST", "config", entities(declared));
  }

  async delete(entity) {
    await this.request("DELETE", at(entity));
  }

  async counts(entity) {
    return (await this.request("GET", at(entity))).counts;
  }

  async send(entity, messages) {
    const path = at(entity, "messages");
    const body = Array.isArray(messages) ? messages.map(messageOf) : messageOf(messages);
    return (await this.request("POST", path, body)).sequenceNumbers;
  }

  async messages(entity, filter = {}) {
    const found = await this.#pages(at(entity, "messages"), { body: 4096, properties: true, ...filter });
    const whole = found.map((message) =>
      message.bodyCut
        ? this.request("GET", at(entity, "messages", message.sequenceNumber) + query({ body: wholeBody }))
        : message,
    );
    return (await Promise.all(whole)).map((message) =>
      dated(
        message,
        "enqueuedTime",
        "lockedUntil",
        "expiresAt",
        "scheduledEnqueueTime",
        "creationTime",
        "absoluteExpiryTime",
      ),
    );
  }

  async deadLetters(entity, filter) {
    return this.messages(named(entity) + deadLetterQueue, filter);
  }

  async resubmit(entity, filter, edit) {
    return this.#job({ kind: "resubmit", entity: named(entity), edit }, filter);
  }

  async purge(entity, filter) {
    return this.#job({ kind: "purge", entity: named(entity) }, filter);
  }

  async snapshot(name) {
    await this.request("POST", "snapshots", { name, replace: true });
  }

  async restore(name) {
    await this.request("POST", `snapshots/${encodeURIComponent(name)}/restore`);
  }

  async reset() {
    await this.request("POST", "reset");
  }

  async waitFor({ timeout, counts, ...rest } = {}) {
    if (counts === undefined && Object.keys(rest).length === 0) {
      throw new TypeError(
        "waitFor() has nothing to wait for: give it entity with idle or counts, message, or events, " +
          'such as waitFor({ entity: "orders", idle: true })',
      );
    }
    const wanted = { ...rest };
    if (counts) wanted.counts = Array.isArray(counts) ? counts : Object.entries(counts).map(condition);
    if (timeout !== undefined) wanted.timeoutSeconds = milliseconds(timeout) / 1000;
    const waited = await this.request("POST", "wait", wanted);
    if (waited.met) return waited;
    if (this.#control.stopped) throw new StoppedError(); // its end cut the wait short
    throw new MinibusError(
      [`Waited for ${waited.wanted ?? "it"}: ${waited.text}`, ...sentences(waited.why)].join("\n"),
    );
  }

  async history(messageId) {
    const { items } = await this.request("GET", "history/life" + query({ messageId }));
    return items.map(eventOf);
  }

  async events(filter = {}) {
    return (await this.#pages("history", filter)).map(eventOf);
  }

  async why(entity) {
    const why = await this.request("GET", at(entity, "why"));
    return { ...why, text: sentences(why).join("\n") };
  }

  async match(topic, message) {
    return this.request("POST", at(topic, "match"), { message: messageOf(message) });
  }

  async refusals() {
    return (await this.#pages("refusals")).map((refusal) => dated(refusal, "time"));
  }

  async connections() {
    return (await this.#pages("connections", {})).map((connection) => dated(connection, "since"));
  }

  /** Deletes the namespace. */
  async stop() {
    await remove(this, "");
  }

  [asyncDispose]() {
    return this.stop();
  }

  // pages returns the items of all pages of a list, or as many as the filter limits them to. Lists without arguments
  // have one page.
  async #pages(path, filter) {
    if (!filter) return (await this.request("GET", path)).items;
    const { limit = Infinity, ...rest } = filter;
    const items = [];
    for (let cursor; ;) {
      const size = Math.min(limit - items.length, 1000);
      const page = await this.request("GET", path + query({ ...rest, limit: size, cursor }));
      items.push(...page.items);
      // The history has a next page at any time, which is still to come.
      if (page.next === undefined || items.length >= limit || ("oldest" in page && page.items.length < size))
        return items;
      cursor = page.next;
    }
  }

  async #job(order, { max, ...filter } = {}) {
    let job = await this.request("POST", "jobs?wait=60s", { ...order, max, filter });
    while (job.state === "running") job = await this.request("GET", `jobs/${job.id}?wait=60s`);
    if (job.state !== "done" || job.failed > 0) {
      const failures = job.errors.map(({ sequenceNumber, detail }) => `message ${sequenceNumber}: ${detail}`);
      throw new MinibusError(
        [
          `${job.kind} of ${job.entity}: ${job.done} done, ${job.failed} failed. ${job.why ?? ""}`.trim(),
          ...failures,
        ].join("\n"),
      );
    }
    return job.done;
  }
}

class Clock {
  #bus;

  constructor(bus) {
    this.#bus = bus;
  }

  now() {
    return this.#ask("GET", "clock");
  }

  async advance(duration) {
    const by = isoDuration(duration ?? milliseconds(duration)); // which refuses undefined
    return this.#ask("POST", "clock/advance?timeoutSeconds=3600", { by });
  }

  async set(time) {
    const now = new Date(time ?? NaN);
    if (Number.isNaN(now.getTime())) {
      throw new RangeError(`${shown(time)} is no time: give a Date, or a text such as "2030-01-01T09:00:00Z"`);
    }
    return this.#ask("PUT", "clock?timeoutSeconds=3600", { now: now.toISOString() });
  }

  freeze() {
    return this.#ask("POST", "clock/freeze");
  }

  resume() {
    return this.#ask("POST", "clock/resume");
  }

  async #ask(method, path, body) {
    return new Date((await this.#bus.request(method, path, body)).now);
  }
}

class Faults {
  #bus;

  constructor(bus) {
    this.#bus = bus;
  }

  async inject({ operation, delay, for: long, ...order }) {
    const ordered = { ...order };
    if (operation !== undefined) ordered.operations = [operation].flat();
    if (delay !== undefined) ordered.delayMilliseconds = milliseconds(delay);
    if (long !== undefined) ordered.for = isoDuration(long);
    return new Fault(this.#bus, await this.#bus.request("POST", "faults", ordered));
  }

  async list() {
    return (await this.#bus.request("GET", "faults")).items.map((fault) => new Fault(this.#bus, fault));
  }

  async remove() {
    await this.#bus.request("DELETE", "faults");
  }
}

for (const kind of [
  "throttle",
  "refuse",
  "detach",
  "drop",
  "close",
  "loseLock",
  "loseSession",
  "delay",
  "starve",
  "failJournal",
  "expireToken",
]) {
  Faults.prototype[kind] = function (entity, options) {
    return this.inject(typeof entity === "object" ? { ...entity, kind } : { ...options, entity, kind });
  };
}

class Fault {
  #bus;

  constructor(bus, { hits, ...fault }) {
    this.#bus = bus;
    Object.assign(this, dated(fault, "until"));
  }

  async hits() {
    return (await this.#bus.request("GET", `faults/${this.id}`)).hits;
  }

  async remove() {
    await remove(this.#bus, `faults/${this.id}`);
  }

  [asyncDispose]() {
    return this.remove();
  }
}

// remove deletes what may be gone already, with the server or before.
async function remove(bus, path) {
  try {
    await bus.request("DELETE", path);
  } catch (error) {
    if (error.status !== 404 && !(error instanceof StoppedError)) throw error;
  }
}

function named(entity) {
  if (typeof entity === "string" && entity !== "") return entity;
  throw new TypeError(
    `The entity is ${entity === undefined ? "missing" : shown(entity)}: ` +
      'name a queue, a topic or a subscription, such as "orders" or "events/Subscriptions/all"',
  );
}

// at returns the path of an entity, and of what it has.
function at(entity, ...rest) {
  return ["entities", named(entity), ...rest].map(encodeURIComponent).join("/");
}

function condition([of, count]) {
  return typeof count === "number" ? { of, least: count, most: count } : { of, ...count };
}

const sentences = (why) => (why?.findings ?? []).map(({ text, fix }) => (fix ? `${text} ${fix}` : text));

const eventOf = (event) => dated(event, "time", "lockedUntil", "scheduledFor");

module.exports = { Namespace };
