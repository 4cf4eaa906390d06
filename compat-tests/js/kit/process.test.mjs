// What the package minibus does with processes, and what it says where something is missing.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Minibus, MinibusError } from "minibus";
import { minibus } from "minibus/node-test";

const require = createRequire(import.meta.url);
const packages = join(import.meta.dirname, "../node_modules"); // those of the project, of which this directory is a part

function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), "kit-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

async function gone(pid) {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch (error) {
      assert.equal(error.code, "ESRCH");
      return;
    }
    await setTimeout(20);
  }
}

// program runs lines of JavaScript in a process of their own. They print the id of their server first.
async function program(lines, options = {}) {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", `import { Minibus } from "minibus";\n${lines}`],
    { cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"], ...options });
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  return { child, server: Number(line) };
}

const start = `const bus = await Minibus.start({ queues: ["orders"] }); console.log(bus.pid);`;

test("a process that leaves stop out ends, and the server with it", { timeout: 60_000 }, async () => {
  const { child, server } = await program(`${start} await bus.send("orders", { body: "x" });`);
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
  await gone(server);
});

test("the server ends with a process that is killed", { timeout: 60_000 }, async () => {
  const { child, server } = await program(`${start} setInterval(() => {}, 1000);`);
  process.kill(server, 0);
  child.kill("SIGKILL");
  await gone(server);
});

test("stop ends the server, and again does nothing", { timeout: 60_000 }, async () => {
  const bus = await Minibus.start({ queues: ["orders"] });
  const own = await bus.namespace();
  const fault = await bus.faults.throttle("orders");
  await Promise.all([fault.remove(), fault.remove()]);
  await fault.remove();
  const stopped = (error) => error instanceof MinibusError && /^You stopped this Minibus: start another one/.test(error.message);
  const events = bus.waitFor({ events: { kinds: ["completed"] }, timeout: "50s" });
  const pending = Promise.all([events, bus.waitFor({ entity: "orders", counts: { active: 1 } }), own.waitFor({ events: { kinds: ["sent"] } })].map((wait) => assert.rejects(wait, stopped)));
  await bus.counts("orders"); // the waits are on their way
  await Promise.all([bus.stop(), own.stop(), bus.stop()]);
  await pending;
  await gone(bus.pid);
  await own.stop();
  await fault.remove();
  await assert.rejects(bus.counts("orders"), stopped);
  await assert.rejects(own.clock.now(), stopped);
  await assert.rejects(bus.namespace(), stopped);
});

test("a server that was killed says so", { timeout: 60_000 }, async () => {
  const bus = await Minibus.start();
  process.kill(bus.pid, "SIGKILL");
  await gone(bus.pid);
  await assert.rejects(bus.clock.now(), /^MinibusError: Minibus was ended by SIGKILL: .*\n[^]*Emulator Service/);
  await bus.stop();
});

test("requests that fail say what to do", async () => {
  await withBus(await Minibus.start(), async (bus) => {
    await assert.rejects(bus.counts("nowhere"), (error) => error.status === 404 && /nowhere/.test(error.detail));
    const { port } = new URL(bus.explorerUrl);
    await assert.rejects(Minibus.start({ args: ["--amqp-port", port] }), new RegExp(`Minibus ended with exit code 1 before it was ready: [^]*${port}[^]*in use`));
  });
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address();
  listener.close();
  await assert.rejects(Minibus.connect(`Endpoint=sb://127.0.0.1:${port}`), /No Minibus answers at http:\/\/127.0.0.1:\d+\/: .*ECONNREFUSED.*\nStart one with Minibus.start\(\), npx minibus, or npx minibus run/);
  await assert.rejects(Minibus.connect("sb://localhost"), { name: "TypeError", message: /has no Endpoint/ });
  delete process.env.SERVICEBUS_CONNECTION_STRING;
  await assert.rejects(Minibus.connect(), /There is no connection string: run the tests under npx minibus run/);
  const config = { UserConfig: { Namespaces: [{ Queues: [{ Name: "a/" }] }] } };
  await assert.rejects(Minibus.start({ config }), /before it was ready: [^]*Queues\[0\]\.Name/);
});

test("nothing is sent to Azure, nor to a stranger", { timeout: 60_000 }, async (t) => {
  const asked = t.mock.method(http, "request", () => assert.fail("a request is sent"));
  const key = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=c2VjcmV0";
  const azure = [
    "Endpoint=sb://foo.servicebus.windows.net/;", "Endpoint=sb://FOO.ServiceBus.Windows.NET;UseDevelopmentEmulator=true;",
    "Endpoint=sb://foo.servicebus.chinacloudapi.cn:5672/;", "Endpoint=sb://foo.privatelink.servicebus.windows.net./;UseDevelopmentEmulator=true;",
    "Endpoint=sb://foo%2Eservicebus.windows.net/;",
  ];
  for (const text of azure) await assert.rejects(Minibus.connect(text + key), /^MinibusError: foo\.[a-z.]+ is a namespace of Azure, and nothing was sent to it/);
  await assert.rejects(Minibus.connect("https://foo.servicebus.windows.net/"), /is a namespace of Azure/);
  for (const host of ["example.com", "minibus", "localhost.example.com", "10.0.0.7", "127.0.0.1.example.com", "[2001:db8::1]"]) {
    for (const more of ["", ";UseDevelopmentEmulator=false"])
      await assert.rejects(Minibus.connect(`Endpoint=sb://${host}:5672;${key}${more}`), /names \S+, which is not this computer, .* add UseDevelopmentEmulator=true/);
  }
  assert.equal(asked.mock.callCount(), 0);
  const allowed = ["sb://localhost", "sb://SHOP.localhost:5672", "sb://127.0.0.9:5672", "sb://[::1]:5672", "sb://shop.servicebus.localhost"].map((endpoint) => `Endpoint=${endpoint};${key}`);
  for (const text of [...allowed, `Endpoint=sb://minibus;UseDevelopmentEmulator=true;${key}`]) await assert.rejects(Minibus.connect(text), /a request is sent/);
  assert.equal(asked.mock.callCount(), 6);
});

test("the setups start a server of their own if the variable names Azure", { timeout: 60_000 }, async (t) => {
  t.after(() => delete process.env.SERVICEBUS_CONNECTION_STRING);
  const setup = require("minibus/jest");
  for (const named of ["Endpoint=sb://foo.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=b", "Endpoint=sb://bus.example.com;SharedAccessKeyName=a;SharedAccessKey=b"]) {
    process.env.SERVICEBUS_CONNECTION_STRING = named;
    await t.test("node:test", async (t) => assert.match((await minibus(t)).connectionString, /sb:\/\/localhost:/));
    await setup();
    const own = process.env.SERVICEBUS_CONNECTION_STRING;
    assert.match(own, /^Endpoint=sb:\/\/localhost:/);
    await setup(); // once more, as in watch mode
    assert.equal(process.env.SERVICEBUS_CONNECTION_STRING, own);
    await Minibus.connect();
  }
});

test("what accepts connections and does not answer is named", { timeout: 60_000 }, async (t) => {
  const { patience } = require(join(packages, "minibus/lib/control.js"));
  const usual = patience.answer;
  patience.answer = 300;
  t.after(() => { patience.answer = usual; });
  const silent = createServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => silent.close());
  const endpoint = `127.0.0.1:${silent.address().port}`;
  for (const address of [`Endpoint=sb://${endpoint}`, `http://${endpoint}`, `https://${endpoint}`])
    await assert.rejects(Minibus.connect(address), /^MinibusError: https?:\/\/127\.0\.0\.1:\d+\/ accepts connections but does not answer\. Is it a Minibus\?/);
  await withBus(await Minibus.start({ queues: ["orders"] }), async (bus) => {
    const waiting = assert.rejects(bus.waitFor({ entity: "orders", counts: { active: 1 }, timeout: "1s" }), /Waited for/); // longer than the patience
    assert.deepEqual((await bus.request("POST", "entities/orders/receive", { wait: "1s" })).messages, []);
    await waiting;
    process.kill(bus.pid, "SIGSTOP");
    await assert.rejects(bus.waitFor({ entity: "orders", counts: { active: 1 }, timeout: 200 }), /accepts connections but does not answer/);
    process.kill(bus.pid, "SIGCONT");
  });
});

async function withBus(bus, body) {
  try {
    await body(bus);
  } finally {
    await bus.stop();
  }
}

test("a binary of one's own", async (t) => {
  await assert.rejects(Minibus.start({ binary: "/nowhere/minibus" }), /There is no Minibus at \/nowhere\/minibus, which the option binary names/);
  const text = join(folder(t), "minibus");
  writeFileSync(text, "no program", { mode: 0o644 });
  await assert.rejects(Minibus.start({ binary: text }), /Minibus can't be run: .*EACCES/);
  process.env.MINIBUS_PATH = text;
  await assert.rejects(Minibus.start(), /Minibus can't be run/);
  process.env.MINIBUS_PATH = `${text}.exe`;
  await assert.rejects(Minibus.start(), /which MINIBUS_PATH names/);
  delete process.env.MINIBUS_PATH;
  const { status, stderr } = bare(t).command({ MINIBUS_PATH: text });
  assert.equal(status, 126);
  assert.match(stderr, /^minibus: .*minibus can't be run: EACCES/);
});

test("a copy without the right to execute is run all the same", (t) => {
  const { dir, command } = bare(t, `@minibus/${process.platform}-${process.arch}`);
  chmodSync(join(dir, "node_modules", "@minibus", `${process.platform}-${process.arch}`, "bin", "minibus"), 0o644);
  assert.equal(command().status, 0);
});

// bare makes a directory with the package minibus and no other, but for those named, and a function that runs its command there.
function bare(t, ...others) {
  const dir = folder(t);
  for (const name of ["minibus", ...others]) cpSync(join(packages, name), join(dir, "node_modules", name), { recursive: true });
  const command = (environ = {}, preload = "") => {
    writeFileSync(join(dir, "preload.cjs"), preload);
    const { npm_config_omit, ...rest } = process.env;
    return spawnSync(process.execPath, ["--require", join(dir, "preload.cjs"), join(dir, "node_modules/minibus/bin/minibus.js"), "version"],
      { encoding: "utf8", env: { ...rest, PATH: "", ...environ }, timeout: 60_000 });
  };
  return { dir, command };
}

const onSystem = (platform, arch) => `Object.defineProperties(process, { platform: { value: "${platform}" }, arch: { value: "${arch}" } });`;

test("a missing package is named, with the cause and the fix", (t) => {
  const here = `@minibus/${process.platform}-${process.arch}`;
  const says = ({ status, stderr }, ...texts) => {
    assert.equal(status, 127);
    for (const text of [/Or build Minibus with Go, and put it into your PATH, which has none, or name it in MINIBUS_PATH\.$/, ...texts]) assert.match(stderr.trim(), text);
  };
  const { dir, command } = bare(t);
  says(command(), new RegExp(`the package ${here} is not installed`), /--no-optional/, /npm install --include=optional/);
  says(command({ npm_config_omit: "dev optional" }), /set to omit optional packages/);
  says(command({}, onSystem("freebsd", "x64")), /no package for freebsd-x64\. There are packages for .*linux-x64/);
  const lock = { packages: { "node_modules/minibus": {}, "node_modules/@minibus/darwin-arm64": {} } };
  writeFileSync(join(dir, "package-lock.json"), JSON.stringify(lock, null, 2));
  says(command(), /package-lock\.json does not have it: npm wrote the file on another system/, /Delete node_modules and package-lock\.json/);
  const other = bare(t, here);
  says(other.command({}, onSystem("win32", "arm64")), new RegExp(`node_modules has ${here}: it comes from another system`), /Delete node_modules and run npm install/);
});

test("without the package of the platform, the PATH is looked through", (t) => {
  const { dir, command } = bare(t);
  const places = ["none", "directory", "script", "data", "binary"].map((name) => join(dir, name));
  const [, directory, script, data, binary] = places;
  for (const place of places) mkdirSync(place);
  mkdirSync(join(directory, "minibus"));
  symlinkSync(join(dir, "node_modules/minibus/bin/minibus.js"), join(script, "minibus")); // as npm does: it would call itself
  writeFileSync(join(data, "minibus"), "no program", { mode: 0o644 });
  const without = command({ PATH: ["", ...places.slice(0, -1)].join(delimiter) });
  assert.equal(without.status, 127);
  assert.match(without.stderr, /is not installed/);
  symlinkSync(join(packages, "@minibus", `${process.platform}-${process.arch}`, "bin", "minibus"), join(binary, "minibus"));
  const { status, stdout } = command({ PATH: places.join(delimiter) });
  assert.equal(status, 0);
  assert.match(stdout, /^minibus /i);
});

test("import and require give the same classes", () => {
  assert.equal(require("minibus").Minibus, Minibus);
});
