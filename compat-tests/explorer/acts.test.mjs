// What a person can do on each screen, with the JavaScript SDK on the other side.
import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { chord, copied, launch, open, settled, show, sizes, taken, told as toldOn, until } from "./page.mjs";
import { connect, fill, namespace } from "./house.mjs";

const client = connect();
let browser, page, filled;
before(async () => {
  filled = await fill(client);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await client.close();
});
beforeEach(async () => {
  page = await open(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("heading", { name: namespace }).waitFor();
});
afterEach(async () => {
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

const to = (hash) => show(page, `#/${namespace}${hash}`);
const button = (name) => page.getByRole("button", { name, exact: true });
const sees = (text, within = page.locator("main")) => within.getByText(text).first().waitFor();
const told = (text) => toldOn(page, text);
const agree = (name) => page.getByRole("dialog").getByRole("button", { name }).click();
const receive = async (queue) => (await client.createReceiver(queue).receiveMessages(1, { maxWaitTimeInMs: 20_000 }))[0];

test("each screen has a title of its own", async () => {
  for (const [hash, title] of [["", "Overview – Minibus"], ["/entity/orders/dead", "orders · Dead letters (3) – Minibus"], ["/entity/orders/dead/1", "orders · Dead letters #1 – Minibus"],
    ["/entity/events%2FSubscriptions%2Flarge/rules", "events/large · Rules – Minibus"], ["/new?kind=topic", "New topic – Minibus"], ["/nowhere", "Not found – Minibus"]]) {
    await to(hash);
    await page.waitForFunction((t) => document.title === t, title);
  }
});

test("Escape closes an open message", async () => {
  await to("/entity/orders/dead/1");
  await sees("the card was refused");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => location.hash.endsWith("/entity/orders/dead"));
});

test("keys: search, palette, screens, theme, back", async () => {
  await page.keyboard.press("/");
  await page.keyboard.type("cart");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "carts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("main").focus();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("events lar");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "events/large" }).waitFor();
  await chord(page, "g", "k");
  await page.getByRole("heading", { name: "Clock", exact: true }).waitFor();
  for (const [key, dialog] of [["?", "Keys"], ["Control+k", "Go to"]]) { // what is open does not outlive its screen
    await chord(page, "g", "k");
    await page.keyboard.press(key);
    await page.getByRole("dialog", { name: dialog }).waitFor();
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "events/large" }).waitFor();
  }
  await page.keyboard.press("t");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
});

test("favourites and closed topics stay over a reload", async () => {
  const tree = page.getByRole("tree", { name: "Entities" });
  await tree.getByRole("button", { name: "Favourite orders" }).first().focus();
  await page.keyboard.press("Enter");
  await sees("Favourites", tree);
  await tree.getByRole("button", { name: "Subscriptions of events" }).click();
  await page.reload();
  await sees("Favourites", tree);
  assert.equal(await tree.getByText("audit").count(), 0);
});

test("counts are live", async () => {
  await to("/entity/live");
  const tile = page.locator(".tile", { hasText: "Active" }).locator(".tile-value");
  await tile.getByText("0", { exact: true }).waitFor();
  await client.createSender("live").sendMessages([{ body: "a" }, { body: "b" }]);
  await tile.getByText("2", { exact: true }).waitFor();
});

test("how many messages come and go is seen at a glance", async () => {
  await to("/entity/live");
  const tile = (name) => page.locator(".tile", { hasText: `${name} / min` }).locator(".tile-value");
  const come = async () => Number(await tile("In").textContent());
  await until(async () => Number.isInteger(await come()), "the tile has a number");
  const before = await come();
  await client.createSender("live").sendMessages(Array.from({ length: 50 }, () => ({ body: "x" })));
  await until(async () => [50, before + 50].includes(await come()), "50 messages came in, and those before may be over a minute old by now");
  assert.equal((await client.createReceiver("live", { receiveMode: "receiveAndDelete" }).receiveMessages(1, { maxWaitTimeInMs: 20_000 })).length, 1);
  await tile("Out").getByText("1", { exact: true }).waitFor();
  const both = () => page.evaluate(() => [...document.querySelectorAll(".tile")].filter((t) => t.textContent.includes(" / min")).map((t) => t.lastChild.textContent).join());
  await until(async () => (await page.locator(".plot-read b").allTextContents()).join() === await both(), "the legend of the chart says the same");
  await to("");
  await page.getByRole("main").getByRole("link", { name: /^Connections/ }).click();
  await page.getByRole("heading", { name: /^Connections/ }).waitFor();
});

test("live events follow, stop and are filtered", async () => {
  await to("/events?entity=live");
  await sees("live", page.getByRole("status"));
  const sent = () => page.getByRole("table").getByText("live-1").count();
  await client.createSender("live").sendMessages({ body: "x", messageId: "live-1" });
  await sees("live-1");
  await button("Pause").click();
  await client.createSender("live").sendMessages({ body: "x", messageId: "live-2" });
  await sees(/more since the pause/);
  assert.equal(await page.getByText("live-2").count(), 0);
  await button("Resume").click();
  await sees("live-2");
  await client.createSender("live").sendMessages({ body: "x", messageId: "live-3" });
  await sees("live-3");
  assert.equal(await sent(), 1);
  const [gone] = await client.createReceiver("live", { receiveMode: "receiveAndDelete" }).receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  await page.getByRole("row", { name: /received and deleted/ }).getByText(gone.messageId).first().waitFor(); // not only with its first event
  await page.getByText("Kinds: all").click();
  await button("completed").click();
  await sees("No event matches.");
  await page.locator("main").getByRole("button", { name: "All kinds" }).click();
  await page.getByRole("link", { name: /live-1/ }).click();
  await page.getByRole("heading", { name: "Trace a message" }).waitFor();
  await sees("Sent");
});

test("a message is traced in two clicks, by each id that people have of it", async () => {
  await client.createSender("live").sendMessages({ body: "x", messageId: "traced-1", correlationId: "trail-1" });
  const [m] = (await client.createReceiver("live").peekMessages(100)).filter((x) => x.messageId === "traced-1");
  for (const id of ["traced-1", `live#${m.sequenceNumber}`, "trail-1"]) {
    await to("");
    await page.getByRole("button", { name: /^Go to a screen/ }).click();
    await page.keyboard.type(id);
    await page.getByRole("option", { name: /traced-1.*live#/ }).click();
    await page.waitForURL(new RegExp(`/life\\?entity=live&sequenceNumber=${m.sequenceNumber}$`));
    await sees("sent");
  }
  await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Trace a message" }).click();
  for (const id of ["traced-1", `live#${m.sequenceNumber}`, "trail-1"]) {
    await page.getByRole("searchbox", { name: "Message id" }).fill(id);
    await page.waitForURL(new RegExp(`messageId=${encodeURIComponent(id)}$`));
    await sees("Sent");
  }
});

test("live events show all events of an id", async () => {
  const dead = client.createReceiver("orders", { subQueueType: "deadLetter" });
  const [m] = await dead.peekMessages(1);
  const rows = page.getByRole("table", { name: "Events, the newest first" }).getByRole("row");
  for (const id of [m.messageId, `orders#${m.sequenceNumber}`]) {
    await to(`/events?messageId=${encodeURIComponent(id)}`);
    for (const what of ["sent", "delivered", "dead-lettered"]) await rows.getByText(what, { exact: true }).first().waitFor();
    assert.equal(await rows.getByText("sent", { exact: true }).count(), 1);
  }
  await to("/events?messageId=never-sent");
  await sees("No events for this message.");
});

test("the last hour is there at the first paint, and can be read", async () => {
  await to("/entity/orders");
  const moment = page.getByRole("slider", { name: "A moment of the last hour" });
  await moment.waitFor();
  const line = await page.locator(".hour path.line").first().getAttribute("d");
  assert.match(line, /^M[\d.]+ [\d.]+(L|h-20$)/, "a line, or a dash where all messages came within one step of the chart");
  await moment.focus();
  await page.keyboard.press("Home");
  assert.match(await moment.getAttribute("aria-valuetext"), /^\d\d:\d\d:\d\d: in \d+, out \d+ a minute, \d+ active$/);
  await moment.hover({ position: { x: (await moment.boundingBox()).width - 2, y: 20 } });
  await sees(/a minute, \d\d:\d\d:\d\d/);
  await to("/entity/a-name-that-goes-on-and-on-until-it-fits-nowhere-and-then-goes-on-a-little-more-to-be-sure");
  await sees("No connected clients.");
  assert.equal(await moment.count(), 0, "an entity that never had a message has no chart");
});

test("rows of the overview stay where they are until they are sorted", async () => {
  const api = `${new URL(page.url()).origin}/$minibus/v1/namespaces/${encodeURIComponent(namespace)}/entities/zz-last`;
  await fetch(api, { method: "PUT", headers: { "Content-Type": "application/json" }, body: "{}" });
  await page.reload();
  const names = () => page.getByRole("table", { name: "Entities" }).locator(".entity-name").evaluateAll((l) => l.map((a) => a.getAttribute("href")));
  await sees("zz-last");
  const before = await names();
  await client.createSender("zz-last").sendMessages(Array.from({ length: 999 }, () => ({ body: "x" })));
  await page.getByRole("row", { name: /zz-last/ }).getByText("999").first().waitFor();
  assert.deepEqual(await names(), before);
  await button("Sort again").click();
  const place = (list) => list.findIndex((n) => n.endsWith("zz-last"));
  await until(async () => place(await names()) < place(before), "the rows are sorted");
  await button("Active").click();
  await until(async () => /zz-last$/.test((await names())[0]), "the most messages come first");
  await page.getByLabel("Which entities").selectOption("dead");
  await until(async () => (await names()).length === 1, "only orders has dead letters");
  await page.locator("main").getByRole("link", { name: "3", exact: true }).last().click();
  await page.waitForURL(/entity\/orders\/dead$/);
  await fetch(api, { method: "DELETE" });
});

test("a topic says what each subscription selects and got", async () => {
  await to("/entity/events");
  const row = page.getByRole("table", { name: "Subscriptions" }).getByRole("row", { name: /^large/ });
  await row.getByText("amount > 1000").waitFor();
  await row.getByText(/^\d+ of \d+$/).waitFor();
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Who gets messages?" }).click();
  await sees("Matched");
  assert.equal(await page.getByText("Nothing can be received now").count(), 0);
  assert.equal(await button("Dead letters").count(), 0);
});

test("a dead letter is understood, edited and resubmitted in four clicks, and nothing moves or has to be scrolled", async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await to("/entity/orders");
  const inSight = async (locator) => {
    await settled(page);
    await locator.waitFor();
    const r = await locator.boundingBox();
    assert.ok(r.y >= 0 && r.y + r.height <= 900, `${locator} is out of sight`);
  };
  let clicks = 0;
  const click = async (locator) => {
    await inSight(locator);
    await locator.click(); // where it is by then
    clicks++;
  };
  await click(page.getByRole("navigation").getByRole("link", { name: /Dead letters/ }));
  const row = page.getByRole("table", { name: "Messages" }).getByRole("row", { name: /Malformed/ });
  await row.waitFor();
  await page.getByRole("group", { name: "Reasons" }).getByText("Malformed").waitFor();
  const before = await row.boundingBox();
  await click(row.getByText("order-2"));
  const why = page.getByRole("region", { name: "Why it is a dead letter" });
  await inSight(why.getByText("the card was refused"));
  await why.getByText(/Dead-lettered .* ago/).waitFor();
  assert.equal((await row.boundingBox()).y, before.y, "the row moves");
  await click(page.getByRole("link", { name: "Edit and resubmit" }));
  await page.locator(".why-dead summary").getByText("the card was refused").waitFor();
  await page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement?.classList.contains("cm-content"));
  await page.keyboard.press("Control+a");
  await page.keyboard.type('{"id": 2, "mended": true}');
  await click(button("Resubmit"));
  await told(/Sent as #\d+, and the dead letter #\d+ is deleted/);
  assert.equal(clicks, 4);
});

test("resubmit by reason, delete one", async () => {
  const queue = "a-name-that-goes-on-and-on-until-it-fits-nowhere-and-then-goes-on-a-little-more-to-be-sure";
  await client.createSender(queue).sendMessages([1, 2, 3].map((body) => ({ body })));
  const receiver = client.createReceiver(queue);
  for (const m of await taken(receiver, 3)) await receiver.deadLetterMessage(m, { deadLetterReason: m.body === 3 ? "Worse" : "PaymentDeclined", deadLetterErrorDescription: `first line of ${m.body}\nsecond line` });
  await to(`/entity/${queue}/dead`);
  await page.getByRole("button", { name: "By reason" }).click();
  const row = (name) => page.locator(".by-reason").getByRole("row", { name });
  await row(/Worse/).getByText("first line of 3").waitFor();
  await row(/PaymentDeclined/).getByRole("button", { name: "Resubmit" }).click();
  await agree("Resubmit 2 dead letters");
  await told(/Done: 2 messages|in the background/); // what takes over a second goes on as a job
  await to(`/entity/${queue}/dead`);
  await page.getByText("1 dead letter", { exact: true }).waitFor();
  await page.getByRole("table", { name: "Messages" }).getByRole("row", { name: /Worse/ }).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Delete 1" }).click();
  await agree("Delete 1 message");
  await sees("No dead letters.");
  await to("/jobs");
  await sees("3 of 3");
});

test("send with properties, read it as each form", async () => {
  await to("/entity/empty/send");
  await page.getByRole("textbox", { name: "Body" }).fill('{"a":1}');
  await page.getByRole("button", { name: "Format as JSON" }).click();
  await page.getByRole("button", { name: "Add a property" }).click();
  await page.getByLabel("Name", { exact: true }).fill("amount");
  await page.getByLabel("Type of amount").selectOption("int");
  await page.getByLabel("Value of amount").fill("seven");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await sees("must be a whole number");
  await page.getByLabel("Value of amount").fill("7");
  await page.getByLabel("Message id").fill("typed");
  await page.getByText("Schedule and repeat").click();
  await page.getByLabel("How many").fill("3");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await told(/3 messages sent/);
  await page.getByRole("link", { name: "See #1" }).waitFor();
  await to("/entity/empty/messages/1");
  await sees("typed-1");
  await page.getByRole("button", { name: "Hex" }).click();
  await sees("000000  7b 0a");
  const file = page.waitForEvent("download");
  await button("Download the body").click();
  assert.equal((await file).suggestedFilename(), "message-1");
  const got = await receive("empty");
  assert.deepEqual([got.body, got.messageId, got.applicationProperties, got.contentType], [{ a: 1 }, "typed-1", { amount: 7 }, "application/json"]);
});

test("find messages by text, state and a SQL filter", async () => {
  await to("/entity/orders/messages?state=scheduled");
  await sees("later");
  await page.getByRole("combobox", { name: "State" }).selectOption("");
  await page.getByLabel("SQL filter: amount > 100").fill("amount = 1500");
  await sees("order-15");
  await page.getByText("1 shown").waitFor();
  await page.getByLabel("SQL filter: amount > 100").fill("");
  await page.getByLabel("Text in body or properties").fill("order-16");
  await page.getByRole("table", { name: "Messages" }).getByText("order-16").waitFor();
  await page.getByText("1 shown").waitFor();
});

test("reschedule and cancel a scheduled message", async () => {
  await to("/entity/orders/messages?state=scheduled");
  await page.getByRole("table", { name: "Messages" }).getByRole("link").click();
  await button("Reschedule").click();
  await page.getByLabel("New time").fill("2031-05-04 10:30");
  await agree("Reschedule");
  await sees("4 May 2031");
  await button("Cancel the message").click();
  await agree("Cancel 1 message");
  await sees("No matching messages.");
});

test("purge an entity as a job", async () => {
  await client.createSender("purged").sendMessages(Array.from({ length: 300 }, (_, i) => ({ body: String(i) })));
  await to("/entity/purged");
  await button("More actions").click();
  await button("Purge messages").click();
  await agree("Purge 300 messages");
  await told(/300 messages|runs in the background/);
  await page.locator(".tile", { hasText: "Active" }).getByText("0", { exact: true }).waitFor();
});

test("read, write and clear the state of a session, see its messages, and break its lock", async () => {
  await to("/entity/carts/sessions");
  const row = (name) => page.getByRole("row", { name: new RegExp(name) });
  await row("alice").getByText('{"items":[1,2,3]}').waitFor();
  await row("alice").getByRole("link", { name: "alice" }).click();
  await page.getByRole("button", { name: "Clear the filter session alice" }).waitFor();
  await page.getByText("1 shown").waitFor();
  await page.goBack();
  await page.setViewportSize(sizes.phone);
  await row("alice").getByText("held by").waitFor();
  await row("alice").getByRole("button", { name: "State", exact: true }).waitFor();
  await page.setViewportSize(sizes.wide);
  await row("alice").getByRole("link", { name: "MSJSClient" }).click();
  await page.waitForFunction(() => location.hash.includes("/connections?connection=c"));
  await page.goBack();
  await row("alice").getByRole("button", { name: "State", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: /^State of session/ });
  await dialog.getByLabel("State", { exact: true }).getByText('"items": [').waitFor();
  await dialog.getByRole("button", { name: "Edit" }).click();
  const text = dialog.getByLabel("Text");
  await page.waitForFunction(() => document.querySelector("dialog [data-editor]")?.shadowRoot?.textContent.includes("items"));
  await text.fill('{"items":[9]}');
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await filled.alice.getSessionState(), { items: [9] });
  await row("alice").getByText('{"items":[9]}').waitFor();
  const edit = async () => {
    await row("bob").getByRole("button", { name: "State", exact: true }).click();
    await dialog.getByRole("button", { name: "Edit" }).click();
  };
  await edit();
  await dialog.getByLabel("Write bytes in hex").check();
  await dialog.getByLabel("Bytes, in hex").fill("zz");
  await dialog.getByRole("button", { name: "Save" }).click();
  await sees("Hex has two digits", dialog);
  await dialog.getByLabel("Bytes, in hex").fill("00 ff");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row("bob").getByText("00 ff").waitFor();
  await row("bob").getByRole("button", { name: "State", exact: true }).click();
  await dialog.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("button", { name: "Clear the state" }).click();
  await row("bob").getByText("none").waitFor();
  await page.locator(".toasts").getByRole("button", { name: "Undo" }).last().click();
  await told("The session has its old state again.");
  await row("bob").getByText("00 ff").waitFor();
  await row("alice").getByRole("button", { name: "Break lock" }).click();
  await agree("Break the lock");
  await row("alice").getByText("nobody").waitFor();
});

test("detach a link and close a connection", async () => {
  const other = connect();
  await other.createSender("dying").sendMessages({ body: "x" });
  await other.createReceiver("dying").receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  await to("/entity/dying");
  const row = page.getByRole("row", { name: /receiver/ });
  await row.getByRole("link", { name: "Why?" }).click();
  await page.waitForURL(/\/why\?client=/);
  await sees("receiver");
  await page.goBack();
  await row.getByRole("button", { name: "Detach" }).click();
  await agree("Detach the link");
  await row.waitFor({ state: "detached" });
  await page.locator(".user").getByRole("link", { name: "MSJSClient" }).click();
  const card = page.locator("[aria-current] > .panel", { has: page.getByRole("link", { name: "dying" }) });
  await sees("Container id", card);
  await card.getByRole("button", { name: "Close" }).click();
  await sees(/unsettled message/, page.getByRole("dialog"));
  await agree("Close the connection");
  await sees(/Connection c\d+ is closed/);
  await other.close().catch(() => undefined);
});

test("what a client was refused", async () => {
  await to("/connections");
  await assert.rejects(client.createSender("nowhere").sendMessages({ body: "x" }));
  await assert.rejects(client.createSender("ordrs").sendMessages({ body: "x" }));
  await page.getByRole("row", { name: /a token for nowhere .*could not be found/ }).first().waitFor();
  const row = page.getByRole("row", { name: /a token for ordrs/ });
  await row.first().waitFor();
  assert.equal(await row.count(), 1, "the same refusal again is one row");
  await row.getByText("Did you mean orders?").waitFor();
  await row.getByRole("link", { name: "a queue" }).click();
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "ordrs");
});

test("why is nothing received", async () => {
  await to("/entity/dying");
  await page.getByRole("link", { name: "Why don’t I receive?" }).click();
  await sees("Nothing can be received now");
  await sees("What to do");
  await button("Dead letters").click();
  await sees("What to do");
});

test("connection strings and programs to copy", async () => {
  await to("/connect");
  assert.match(await copied(page, button("Copy").first()), /^Endpoint=sb:\/\/.*SharedAccessKey=/);
  for (const [name, text] of [["Python", "from_connection_string"], [".NET", "ServiceBusClient("], ["Java", "connectionString("], ["Go", "NewSender("], ["Shell", "minibus send"], ["JavaScript", "createSender"]]) {
    await button(name).click();
    await sees(text);
  }
  await sees("createReceiver(\"");
  await page.getByLabel("Entity of the programs").selectOption("events");
  await sees("createReceiver(\"events\", \"audit\")");
  await button("A container").click();
  await sees("Endpoint=sb://host.docker.internal:");
  await button("With TLS").click();
  assert.doesNotMatch(await copied(page, button("Copy").first()), /UseDevelopmentEmulator|docker/);
  assert.match(await page.evaluate(async () => (await fetch(document.querySelector("a[download]").href)).text()), /BEGIN CERTIFICATE/);
  await sees(/amqps:\/\/localhost:\d+/);
  await sees(/^Minibus (devel|\d)/);
  const feedback = page.getByRole("link", { name: "Feedback" });
  assert.equal(await feedback.count(), 0, "the project has no address yet");
  await page.evaluate(() => document.head.insertAdjacentHTML("beforeend", '<meta name="issues" content="https://github.com/contoso/minibus/issues">'));
  await to("");
  await to("/connect");
  assert.equal(await feedback.getAttribute("href"), "https://github.com/contoso/minibus/issues");
});

test("freeze, advance and resume the clock", async () => {
  await to("/clock");
  await button("Freeze").click();
  await sees("frozen");
  await client.createSender("live").sendMessages([1, 2].map((i) => ({ body: "brief", messageId: `brief-${i}`, timeToLive: 600_000 })));
  await client.createSender("live").scheduleMessages({ body: "later", messageId: "due" }, new Date(Date.now() + 1_200_000));
  await button("+ 1 s").click();
  await told("Advanced by 1 s.");
  await button("+ 1 h").click();
  const question = page.getByRole("dialog", { name: "Advance the clock by 1 h?" });
  await sees(/messages expire in \d+ entit/, question);
  await sees(/scheduled messages? becomes? active in \d entit/, question);
  await page.goBack();
  await question.waitFor({ state: "detached" });
  await page.goForward();
  await button("+ 1 h").click();
  await question.getByText("Save a snapshot of the namespace first").click();
  await agree("Advance");
  await told(/Saved as snapshot before-advance-/);
  await sees("restore a snapshot");
  await page.getByLabel("To a time").fill("2020-01-01 10:00");
  await page.locator("form", { hasText: "To a time" }).getByRole("button").click();
  await sees("This clock is past that time");
  await page.getByLabel(/By a duration/).fill("soon");
  await page.locator("form", { hasText: "By a duration" }).getByRole("button").click();
  await sees(/Write a duration such as/);
  await button("Resume").click();
  await page.locator("main .badge", { hasText: "frozen" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: /\+1 h|\+5\d min/ }).waitFor();
});
