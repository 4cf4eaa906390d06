// Everything that came in a message or a name is text.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import rhea from "rhea"; // which the SDK speaks AMQP with
import { address, check, launch, open, settled, show } from "./page.mjs";
import { connect, namespace } from "./house.mjs";

const client = connect();
let browser;
before(async () => (browser = await launch()));
after(async () => {
  await browser?.close();
  await client.close();
});

const markup = `<img src=x onerror="document.title='ran'"><script>document.title='ran'</script>`;

test("markup in every field is shown as text", async () => {
  await client.createSender("orders").sendMessages({
    body: markup, messageId: markup, subject: markup, correlationId: markup, contentType: "text/html", to: markup, replyTo: markup,
    applicationProperties: { [markup]: markup, "\u202Egnp.exe": "\u202Etxt" },
  });
  await client.createSender("carts").sendMessages({ body: markup, sessionId: markup });
  const receiver = client.createReceiver("orders");
  const [m] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  await receiver.deadLetterMessage(m, { deadLetterReason: markup, deadLetterErrorDescription: markup });
  const rule = { FilterType: "Correlation", CorrelationFilter: { Label: markup, Properties: { [markup]: markup } }, Action: { SqlExpression: `SET [a] = '${markup.replaceAll("'", "''")}'` } };
  const large = "/entity/events%2FSubscriptions%2Flarge", entities = `${address}/$minibus/v1/namespaces/${namespace}/entities`;
  for (const [path, method, body] of [["events%2FSubscriptions%2Flarge/rules/hostile", "PUT", { Properties: rule }], ["orders", "PATCH", { Properties: { UserMetadata: markup } }]]) {
    assert.ok((await fetch(`${entities}/${path}`, { method, body: JSON.stringify(body) })).ok, path);
  }
  const typed = encodeURIComponent(JSON.stringify({ subject: markup, p: [[markup, "string", markup]] }));
  const injected = await fetch(`${address}/$minibus/v1/namespaces/${namespace}/faults`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ kind: "throttle", client: markup }) });
  assert.equal(injected.status, 201);
  const page = await open(browser);
  await page.getByRole("heading", { name: namespace }).waitFor();
  for (const hash of ["/entity/carts/receive", "/entity/orders/receive?from=dead"]) {
    await show(page, `#/${namespace}${hash}`);
    await page.locator("main").getByRole("button", { name: "Receive", exact: true }).click();
    await page.getByRole("list", { name: "Held messages" }).getByText("<img").first().waitFor();
  }
  for (const hash of ["/entity/orders/settings", large, large + "/rules", large + "/rules/hostile", `${large}/test?m=${typed}`, `/entity/events/test?m=${typed}&rule=${encodeURIComponent(JSON.stringify(rule))}`,
    "/configuration", `/new?kind=subscription&topic=${encodeURIComponent(markup)}`, "/events", "/entity/orders/dead", "/entity/orders/dead/1", "/entity/orders/send?from=orders%2F%24DeadLetterQueue&number=1", "/entity/orders/history", "/entity/orders/why",
    "/entity/carts/sessions", "/life?entity=orders&sequenceNumber=1", "/connections", "/jobs", "/clock", "/faults", "/snapshots", "/entity/carts/receive", "/entity/orders/receive?from=dead"]) {
    await show(page, `#/${namespace}${hash}`);
    await page.locator("main .loading").first().waitFor({ state: "detached" });
    await settled(page); // what comes a moment later must not run either
    assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main script").length), 0, hash);
    assert.notEqual(await page.title(), "ran", hash);
    await check(page, hash);
  }
  await show(page, `#/${namespace}/entity/orders/dead/1`);
  await page.getByText("\u27e8202e\u27e9gnp.exe").waitFor();
  await page.context().close();
});

test("markup in what a client says of itself is shown as text", async () => {
  const container = rhea.create_container({ id: markup });
  const connection = container.connect({ host: "localhost", port: Number(/sb:\/\/[^:]+:(\d+)/.exec(process.env.MINIBUS_CONNECTION_STRING)[1]), reconnect: false, properties: { product: markup, version: markup, platform: markup } });
  await once(connection, "connection_open");
  const page = await open(browser, { path: `/#/${namespace}/connections` });
  await page.getByRole("heading", { name: markup }).waitFor();
  assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main script").length), 0);
  assert.notEqual(await page.title(), "ran");
  await check(page, "a client with markup");
  await page.context().close();
  connection.close();
});

test("markup in bodies of each form, in the editor and in names of templates is text", async () => {
  const bodies = [[JSON.stringify({ [markup]: markup, list: [markup] }), "application/json"], [`<order><a>${markup.replaceAll("src=x", 'src="x"')}</img></a></order>`, "application/xml"], [markup, "text/plain"]];
  await client.createSender("live").sendMessages(bodies.map(([body, contentType]) => ({ body: Buffer.from(body), contentType })));
  await client.createSender("live").sendMessages({ bodyType: "value", body: { [markup]: [markup] } });
  const page = await open(browser);
  await page.getByRole("heading", { name: namespace }).waitFor();
  const clean = async (what) => {
    assert.equal(await page.evaluate(() => [document, ...[...document.querySelectorAll("[data-editor]")].map((e) => e.shadowRoot)].reduce((n, d) => n + d.querySelectorAll("main img, main script, .cm-content img, .cm-content script").length, 0)), 0, what);
    assert.notEqual(await page.title(), "ran", what);
    await check(page, what);
  };
  for (const number of [1, 2, 3, 4]) {
    await show(page, `#/${namespace}/entity/live/messages/${number}`);
    const forms = page.getByRole("group", { name: "Form of the body" }).getByRole("button");
    await forms.first().waitFor();
    for (let i = 0; i < await forms.count(); i++) {
      await forms.nth(i).click();
      await clean(`message ${number}, form ${i}`);
    }
  }
  await show(page, `#/${namespace}/entity/live/send?from=live&number=1`);
  await page.locator(".cm-content").getByText("onerror").first().waitFor();
  await page.getByLabel("Template name").fill(markup);
  await page.getByRole("button", { name: "Save as template" }).click();
  await page.locator(".templates").getByText("onerror").waitFor();
  await clean("a template");
  await page.context().close();
});

test("markup in the address is text", async () => {
  const page = await open(browser, { path: `/#/${encodeURIComponent(markup)}/entity/${encodeURIComponent(markup)}`, allowed: [404] });
  await page.locator("main").getByText("There is no such namespace.").waitFor();
  await page.locator("main").getByText("<img").first().waitFor();
  assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main script").length), 0);
  await page.context().close();
});

test("the policy of the page allows no other script, style or frame", async () => {
  const answer = await fetch(address + "/", { headers: { accept: "text/html" } });
  const policy = answer.headers.get("content-security-policy");
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]) assert.ok(policy.includes(part), part);
  assert.doesNotMatch(policy, /unsafe|\*|data:|https?:/);
  const page = await open(browser);
  const ran = await page.evaluate(() => {
    const s = document.createElement("script");
    s.textContent = "window.ran = true";
    document.head.append(s);
    return window.ran === true;
  });
  assert.equal(ran, false);
  await page.context().close();
});

test("a page of another origin gets nothing", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.route("http://evil.test/", (r) => r.fulfill({ contentType: "text/html", body: "<!doctype html><title>evil</title>" }));
  await page.goto("http://evil.test/");
  const tries = await page.evaluate(async (to) => {
    const results = [];
    for (const path of ["/", "/$minibus/ui/app.js", "/$minibus/v1/namespaces"]) {
      results.push(await fetch(to + path, { headers: { accept: "text/html" } }).then((r) => r.status, () => "refused"));
    }
    results.push(await fetch(to + "/$minibus/v1/namespaces", { method: "POST", mode: "no-cors", body: '{"name":"evil-one"}' }).then((r) => r.type, () => "refused"));
    return results;
  }, address);
  assert.ok(tries.every((t) => t === "refused" || t === "opaque"), tries.join(" "));
  const names = (await (await fetch(address + "/$minibus/v1/namespaces")).json()).namespaces.map((n) => n.name);
  assert.ok(!names.includes("evil-one"), "nothing was created");
  await context.close();
});

test("a stranger's name that leads here gets nothing", async () => {
  const stranger = await launch("--host-resolver-rules=MAP evil.test 127.0.0.1"), page = await stranger.newPage();
  for (const path of ["/", "/$minibus/ui/app.js", "/$minibus/v1/namespaces"]) {
    assert.equal((await page.goto(`http://evil.test:${process.env.MINIBUS_PORT_HTTP}${path}`)).status(), 403, path);
  }
  await stranger.close();
});
