// A hostile page that is loaded already cannot act: not when its name is led to Minibus afterwards (DNS rebinding), and not from a port beside it. Before Minibus
// starts, the test serves the page on the very port that Minibus gets.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { address, launch } from "./page.mjs";
import { connect, namespace } from "./house.mjs";

const port = Number(process.env.MINIBUS_PORT_HTTP), stranger = "evil.example";
const control = (step) => fetch(process.env.MINIBUS_CONTROL + step);
const api = `/$minibus/v1/namespaces/${encodeURIComponent(namespace)}`;
let browser, beside, mine;

// serve serves a hostile page, which allows its own scripts everything.
async function serve(at) {
  const server = createServer((_, answer) => answer.writeHead(200, { "Content-Type": "text/html", Connection: "close" }).end("<!doctype html><title>hostile</title><h1>hostile</h1>"));
  await once(server.listen(at, "127.0.0.1"), "listening");
  return server;
}

// state is what an act would change.
async function state() {
  const read = async (path) => (await fetch(address + api + path)).text();
  const entities = JSON.parse(await read("/entities")).items.map((e) => [e.path, e.counts, e.properties]);
  return JSON.stringify([entities, await read("/entities/orders/messages"), await read("/snapshots"), await read("/faults"), await (await fetch(`${address}/$minibus/v1/namespaces`)).text()]);
}

before(async () => {
  const client = connect();
  await client.createSender("orders").sendMessages([{ body: "one" }, { body: "two" }]);
  await client.close();
  browser = await launch(`--host-resolver-rules=MAP ${stranger} 127.0.0.1`);
  beside = await serve(0);
});
after(async () => {
  await browser?.close();
  beside?.close();
});

const atom = '<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><QueueDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"/></content></entry>';
const acts = [
  ["GET", "/"], ["GET", "/$minibus/ui/app.js"], ["GET", "/metrics"], ["GET", "/health"], ["GET", "/$minibus/v1/namespaces"],
  ["GET", `${api}/entities/orders/messages`], ["GET", `${api}/events`], ["GET", `${api}/config`], ["GET", "/orders?api-version=2021-05"], ["GET", "/$Resources/queues?api-version=2021-05"],
  ["POST", "/$minibus/v1/namespaces", '{"name":"evil"}'], ["POST", `${api}/entities/orders/messages`, '{"body":"evil"}'], ["POST", `${api}/jobs`, '{"kind":"purge","entity":"orders"}'],
  ["POST", `${api}/faults`, '{"kind":"throttle"}'], ["POST", `${api}/snapshots`, '{"name":"evil"}'], ["POST", `${api}/reset`, "{}"],
  ["PUT", `${api}/entities/evil`, '{"kind":"queue"}'], ["PATCH", `${api}/entities/orders`, '{"Properties":{"UserMetadata":"evil"}}'], ["DELETE", `${api}/entities/orders`], ["DELETE", "/$minibus/v1/namespaces/evil"],
  ["PUT", "/evil?api-version=2021-05", atom], ["DELETE", "/orders?api-version=2021-05"], ["POST", "/orders/messages", "evil"], ["DELETE", "/orders/messages/head?timeout=1"],
];

// attack tries all that a page can, and returns what it could read.
const attack = (page, to) => page.evaluate(async ({ to, acts, api }) => {
  const got = [];
  const headers = [{}, { "Content-Type": "application/json" }, { "Content-Type": "text/plain", Authorization: "SharedAccessSignature sr=x", "X-Requested-With": "fetch", Accept: "text/html" }];
  for (const [method, path, body] of acts) {
    for (const own of headers) got.push([`${method} ${path}`, await fetch(to + path, { method, body, headers: own }).then((r) => r.status, () => "refused")]);
    if (["GET", "POST"].includes(method)) got.push([`${method} ${path} without CORS`, await fetch(to + path, { method, body, mode: "no-cors", credentials: "include" }).then((r) => r.status || "opaque", () => "refused")]);
  }
  navigator.sendBeacon(`${to}${api}/entities/orders/messages`, '{"body":"evil"}');
  const opened = (source, ends) => new Promise((done) => {
    source.onopen = () => done("open");
    source.onmessage = () => done("message");
    for (const end of ends) source[`on${end}`] = () => done("refused");
  });
  got.push(["EventSource", await opened(new EventSource(`${to}${api}/events`), ["error"])]);
  for (const protocols of [[], ["AMQPWSB10"]]) got.push(["WebSocket", await opened(new WebSocket(`${to.replace("http", "ws")}/$servicebus/websocket`, protocols), ["error", "close"])]);
  for (const [tag, path] of [["img", "/$minibus/ui/icon.svg"], ["script", "/$minibus/ui/start.js"], ["link", "/$minibus/ui/app.css"]]) {
    const element = document.createElement(tag);
    if (tag === "script") element.type = "module";
    got.push([tag, await new Promise((done) => {
      element.onload = () => done("loaded");
      element.onerror = () => done("refused");
      if (tag === "link") [element.rel, element.href] = ["stylesheet", to + path];
      else element.src = to + path;
      document.body.append(element);
    })]);
  }
  const frame = document.createElement("iframe"), form = document.createElement("form");
  [frame.name, form.target, form.method, form.enctype, form.action] = ["into", "into", "post", "text/plain", `${to}${api}/entities/orders/messages`];
  const field = document.createElement("input");
  [field.name, field.value] = ['{"body":"evil","subject":"', '"}'];
  form.append(field);
  document.body.append(frame, form);
  await new Promise((done) => {
    frame.onload = done;
    form.submit();
  });
  frame.remove();
  return got;
}, { to, acts, api });

// refusedAll fails if an attack read anything but a refusal, if an answer was none, or if something has changed.
async function refusedAll(page, to, then) {
  const answers = [];
  const note = (r) => r.url().startsWith(to) && answers.push([r.request().method(), r.url(), r.status()]);
  page.on("response", note);
  const got = await attack(page, to);
  page.off("response", note);
  assert.deepEqual(got.filter(([, result]) => ![403, "refused", "opaque"].includes(result)), [], to);
  assert.deepEqual(answers.filter(([, , status]) => status !== 403), [], to);
  const simple = acts.filter(([method]) => ["GET", "POST"].includes(method)); // the browser tells of no other answers to pages of another origin
  assert.ok(answers.length >= simple.length, `${to} answered only ${answers.length} requests: the others did not get there`);
  assert.equal(await state(), then, to);
}

test("a page whose name is led here after it was loaded can do nothing", async () => {
  const then = await state();
  await control("/stop");
  mine = await serve(port);
  const page = await (await browser.newContext()).newPage();
  await page.goto(`http://${stranger}:${port}/`);
  await new Promise((done) => (mine.close(done), mine.closeAllConnections()));
  await control("/start");
  await refusedAll(page, `http://${stranger}:${port}`, then);
  await refusedAll(page, `http://localhost:${port}`, then); // of another origin
  assert.equal(await page.title(), "hostile");
  assert.equal((await page.reload()).status(), 403);
  await page.context().close();
});

for (const host of [stranger, "localhost", "127.0.0.1"]) test(`a page of ${host} from a port beside can do nothing`, async () => {
  const page = await (await browser.newContext()).newPage(), then = await state();
  await page.goto(`http://${host}:${beside.address().port}/`);
  for (const to of [stranger, "localhost", "127.0.0.1"]) {
    await refusedAll(page, `http://${to}:${port}`, then);
    const [window] = await Promise.all([page.waitForEvent("popup"), page.evaluate((to) => void open(to), `http://${to}:${port}/`)]);
    await window.waitForLoadState();
    assert.equal(await window.locator("#app").count(), 0, `${to} in a window that the page opened`);
    await window.close();
  }
  await page.context().close();
});
