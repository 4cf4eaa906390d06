// Entities, rules, the test bench of rules and configurations in the explorer, with the JavaScript SDK on the other side.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { ServiceBusAdministrationClient } from "@azure/service-bus";
import { address, chord, copied, launch, open, refused, show, told, until } from "./page.mjs";
import { connect, namespace } from "./house.mjs";

const client = connect();
const api = `${address}/$minibus/v1/namespaces/${namespace}`;
let browser, page;
before(async () => (browser = await launch()));
after(async () => {
  await browser?.close();
  await client.close();
});
beforeEach(async () => {
  page = await open(browser, { permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true });
  await page.getByRole("heading", { name: namespace }).waitFor();
});
afterEach(async () => {
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

const to = (hash) => show(page, `#/${namespace}${hash}`);
const main = () => page.locator("main");
const button = (name, within = main()) => within.getByRole("button", { name, exact: true });
const field = (name) => main().getByLabel(name, { exact: true });
const sees = (text, within = main()) => within.getByText(text).first().waitFor();
const agree = (name) => page.getByRole("dialog").getByRole("button", { name }).click();
// selected is what is selected in an editor.
const selected = (label) => field(label).evaluate((e) => (e.value === undefined ? e.getRootNode().getSelection().toString() : e.value.slice(e.selectionStart, e.selectionEnd)));
const toast = (text) => told(page, text);
const heading = (name) => page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
const undo = () => page.locator(".toasts").getByRole("button", { name: "Undo" }).last().click();
const unfold = (title) => main().locator("summary", { hasText: title }).click();

// entity reads an entity from the control API.
const entity = async (path) => (await fetch(`${api}/entities/${encodeURIComponent(path)}`)).json();
const textOf = (body) => JSON.stringify(body, (_, v) => (typeof v === "bigint" ? `#${v}#` : v)).replace(/"#(\d+)#"/g, "$1"); // also of long numbers
const put = (path, body, query = "") => fetch(`${api}/entities/${encodeURIComponent(path)}${query}`, { method: "PUT", body: textOf(body) });

test("make a queue with its name alone, and one with every setting", async () => {
  await page.keyboard.press("n");
  await heading("New queue");
  await page.keyboard.type("made");
  await page.keyboard.press("Enter");
  await heading("made");
  const { DefaultMessageTimeToLive, MaxDeliveryCount, DuplicateDetectionHistoryTimeWindow } = (await entity("made")).properties; // as in Azure
  assert.deepEqual([DefaultMessageTimeToLive, MaxDeliveryCount, DuplicateDetectionHistoryTimeWindow], ["P10675199DT2H48M5.4775807S", 10, "PT10M"]);
  await client.createSender("made").sendMessages({ body: "x" });
  await to("/new?kind=queue");
  await field("Name").fill("whole");
  for (const group of ["Delivery", "Time to live", "Duplicate detection", "Forwarding", "Size and storage", "Status"]) await unfold(group);
  const texts = { "Lock duration": "30s", "Max delivery count": "7", "Time to live": "14d", "History window": "1h 30m", "Forward dead letters to": "orders", "Max size": "2048", "Max message size": "128", "Delete when idle for": "P30D", "User metadata": "of the test" };
  for (const [name, text] of Object.entries(texts)) await field(name).fill(text);
  for (const name of ["Sessions", "Dead-letter expired messages", "Detect duplicates"]) await field(name).check();
  await field("Status").selectOption("ReceiveDisabled");
  await button("Create the queue").click();
  await heading("whole");
  const p = (await entity("whole")).properties;
  assert.deepEqual(p, {
    ...p, LockDuration: "PT30S", MaxDeliveryCount: 7, DefaultMessageTimeToLive: "P14D", DuplicateDetectionHistoryTimeWindow: "PT1H30M", ForwardDeadLetteredMessagesTo: "orders", MaxSizeInMegabytes: 2048,
    MaxMessageSizeInKilobytes: 128, AutoDeleteOnIdle: "P30D", UserMetadata: "of the test", RequiresSession: true, DeadLetteringOnMessageExpiration: true, RequiresDuplicateDetection: true, Status: "ReceiveDisabled",
  });
});

test("the form has every setting of the API, and its defaults are those that count", async () => {
  for (const [kind, path] of [["queue", "defaults-q"], ["topic", "defaults-t"], ["subscription", "defaults-t/Subscriptions/s"]]) {
    await to(`/new?kind=${kind}&topic=defaults-t`);
    await heading(`New ${kind}`);
    await field("Name").fill(path.split("/").pop());
    await button(`Create the ${kind}`).click();
    await heading(path.replace("/Subscriptions", ""));
    const p = (await entity(path)).properties;
    await to(`/entity/${encodeURIComponent(path)}/settings`);
    await field("User metadata").waitFor();
    const shown = Object.fromEntries(await main().locator("[id^=set-]").evaluateAll((all) => all.map((e) => [e.id.slice(4), e.type === "checkbox" ? String(e.checked) : e.value])));
    assert.deepEqual(Object.keys(shown).sort(), Object.keys(p).sort(), kind);
    await to(`/new?kind=${kind}`);
    await heading(`New ${kind}`);
    const initial = await main().locator("[id^=set-]").evaluateAll((all) => all.map((e) => [e.id.slice(4), e.type === "checkbox" ? String(e.checked) : e.value || e.placeholder]));
    for (const [name, text] of initial) if (name in shown && !["MaxMessageSizeInKilobytes", "ForwardTo", "ForwardDeadLetteredMessagesTo", "UserMetadata"].includes(name)) assert.equal(text, shown[name], `${kind} ${name}`);
  }
});

test("errors stand beside their fields, and the form keeps what was typed", async () => {
  await to("/new?kind=queue");
  await button("Create the queue").click();
  await sees("Enter a name.");
  await sees("max delivery count: 10"); // a folded group says what it has
  await field("Name").fill("a b");
  assert.equal(await main().getByText("Enter a name.").count(), 0);
  await button("Create the queue").click();
  await main().locator("#help-Name", { hasText: "A name can’t have a space. Use up to 260 characters" }).waitFor();
  await refused(page, 400);
  await field("Name").fill("orders");
  await unfold("Delivery");
  await field("Lock duration").fill("30");
  await button("Create the queue").click();
  await sees("The unit is missing. Write 30s, 30m, 30h or 30d.");
  await field("Lock duration").fill("10m");
  await button("Create the queue").click();
  await main().locator("#help-Name", { hasText: "There is already an entity with this name." }).waitFor();
  await refused(page, 409);
  await field("Name").fill("new-one");
  await field("Max delivery count").fill("0");
  await button("Create the queue").click();
  await main().locator("#help-LockDuration", { hasText: "10m isn’t allowed. Use 0.001s to 5m." }).waitFor();
  await main().locator("#help-MaxDeliveryCount", { hasText: "0 isn’t allowed. Use a whole number from 1 to 2,147,483,647." }).waitFor();
  await page.locator("#set-LockDuration:focus").waitFor();
  await refused(page, 400);
  assert.equal(await field("Lock duration").inputValue(), "10m");
  assert.equal((await entity("new-one")).status, 404);
});

test("make a topic, and a subscription from its page", async () => {
  await to("/new?kind=topic");
  await field("Name").fill("made/topic");
  await page.keyboard.press("Enter");
  await heading("made/topic");
  await main().getByRole("link", { name: "New subscription" }).click();
  await heading("New subscription");
  assert.equal(await field("Topic").inputValue(), "made/topic");
  await field("Name").fill("first");
  await button("Create the subscription").click();
  await heading("made/topic/first");
  await client.createSender("made/topic").sendMessages({ body: "hello" });
  const [m] = await client.createReceiver("made/topic", "first").receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  assert.equal(m.body, "hello");
});

test("change settings, see what is fixed, and go back to a default", async () => {
  await put("changing", { Properties: { MaxDeliveryCount: 9, LockDuration: "PT30S" } });
  await to("/entity/changing/settings");
  assert.equal(await field("Lock duration").inputValue(), "30s");
  assert.equal(await field("Sessions").isDisabled(), true);
  assert.equal(await button("No changes").isDisabled(), true);
  await field("Lock duration").fill("2m");
  await field("Max delivery count").fill("");
  await field("Time to live").fill("soon");
  await button("Save 3 changes").click();
  await sees("Write a duration such as");
  await field("Time to live").fill("never");
  await button("Save 3 changes").click();
  await toast("Saved 3 settings.");
  const admin = new ServiceBusAdministrationClient(process.env.MINIBUS_CONNECTION_STRING);
  const p = await admin.getQueue("changing").catch(() => undefined);
  const now = (await entity("changing")).properties;
  assert.deepEqual([now.LockDuration, now.MaxDeliveryCount, now.DefaultMessageTimeToLive], ["PT2M", 10, "P10675199DT2H48M5.4775807S"]);
  if (p) assert.equal(p.lockDuration, "PT2M");
  await field("Forward messages to").fill("nowhere");
  await button("Save 1 change").click();
  await main().locator("#help-ForwardTo", { hasText: "There is no queue or topic nowhere." }).waitFor();
  await refused(page, 400);
  await page.getByRole("link", { name: "Summary" }).click();
  const question = page.getByRole("dialog", { name: "Leave unsaved changes?" });
  await question.waitFor();
  await page.keyboard.press("Escape");
  assert.match(page.url(), /\/changing\/settings$/);
  assert.equal(await field("Forward messages to").inputValue(), "nowhere");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("1");
  await question.getByRole("button", { name: "Discard 1 change" }).click();
  await page.waitForURL(/\/changing$/);
  await page.getByRole("heading", { name: "Properties" }).waitFor();
});

test("policies of an entity: add, copy, renew, delete", async () => {
  await put("guarded", {});
  await to("/entity/guarded/settings");
  await sees("No policies of its own");
  const policies = async () => (await (await fetch(`${api}/entities/guarded?keys=true`)).json()).properties.AuthorizationRules ?? [];
  await field("Name of the policy").fill("a;b");
  await button("Add policy").click();
  await main().locator("form").getByRole("alert").waitFor();
  await refused(page, 400);
  await field("Name of the policy").fill("sender");
  await button("Add policy").click();
  await toast("Added the policy.");
  const [first] = await policies();
  assert.deepEqual([first.KeyName, first.Rights], ["sender", ["Send"]]);
  const text = await copied(page, button("Copy connection string"));
  assert.ok(text.startsWith("Endpoint=sb://") && text.includes(`;SharedAccessKeyName=sender;SharedAccessKey=${first.PrimaryKey};`) && text.endsWith(";EntityPath=guarded"), text);
  await button("Regenerate keys").click();
  await agree("Regenerate keys");
  await toast("Regenerated the keys.");
  assert.notEqual((await policies())[0].PrimaryKey, first.PrimaryKey);
  await undo();
  await toast("The policy has its old keys again.");
  assert.deepEqual(await policies(), [first]);
  await main().locator(".policies").getByRole("button", { name: "Delete" }).click();
  const renewed = await policies();
  await agree("Delete the policy");
  await sees("No policies of its own");
  assert.deepEqual(await policies(), []);
  await undo();
  await toast("The policy is back, with its keys.");
  assert.deepEqual(await policies(), renewed);
});

test("deleting says what goes with it", async () => {
  await put("doomed", { Subscriptions: [{ Name: "a" }, { Name: "b" }] }, "?kind=topic");
  await client.createSender("doomed").sendMessages([{ body: "1" }, { body: "2" }, { body: "3" }]);
  await to("/entity/doomed/settings");
  await page.locator("#search").fill("doomed"); // the list shows both subscriptions, however many entities there are
  await page.locator(".sidebar").getByTitle("3 active").nth(1).waitFor();
  await page.locator("#search").fill("");
  page.allowed.push(404); // an answer may be under way
  await button("Delete topic").click();
  const dialog = page.getByRole("dialog");
  await sees("2 subscriptions", dialog);
  await sees("6 messages", dialog);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await entity("doomed")).kind, "topic");
  await button("Delete topic").click();
  await agree("Delete the topic");
  await heading(namespace);
  await toast(/^Deleted .* with 6 messages\.$/);
  assert.equal((await entity("doomed")).status, 404);
});

test("an empty entity that was deleted comes back with its settings, subscriptions, rules and keys", async () => {
  await put("back", { Properties: { DefaultMessageTimeToLive: "P3D", AuthorizationRules: [{ KeyName: "k", Rights: ["Send"], PrimaryKey: "a2V5", SecondaryKey: "a2V5" }] },
    Subscriptions: [{ Name: "s", Properties: { MaxDeliveryCount: 9 }, Rules: [{ Name: "n", Properties: { FilterType: "Correlation", CorrelationFilter: { Properties: { id: 9007199254740993n } } } }] }] }, "?kind=topic");
  const whole = async (path) => {
    const text = await (await fetch(`${api}/entities/${encodeURIComponent(path)}?keys=true`)).text();
    return text.replace(/"(accessed|created|updated)":"[^"]*",?/g, "");
  };
  const before = [await whole("back"), await whole("back/Subscriptions/s")];
  assert.match(before[1], /9007199254740993/);
  await to("/entity/back/settings");
  await button("Delete topic").click();
  assert.equal(await page.getByRole("dialog").getByRole("checkbox").count(), 0, "there is nothing that only a snapshot keeps");
  await agree("Delete the topic");
  await toast(/^Deleted .*\. It was empty\.$/);
  assert.equal((await entity("back")).status, 404);
  page.allowed.push(404); // an answer may be under way
  await undo();
  await heading("back");
  await toast(/ is back, with its settings\.$/);
  assert.deepEqual([await whole("back"), await whole("back/Subscriptions/s")], before);
  await fetch(`${api}/entities/back`, { method: "DELETE" }); // a program that reads and writes a configuration rounds its number
});

test("a snapshot that is saved before messages are lost brings them back", async () => {
  await put("saved", {});
  await client.createSender("saved").sendMessages([{ body: "1" }, { body: "2" }]);
  await to("/entity/saved");
  await button("More actions").click();
  await button("Purge messages").click();
  await page.getByRole("dialog").getByLabel(/Save a snapshot of the namespace first/).check();
  await agree("Purge 2 messages");
  await toast(/Saved as snapshot before-purge-\d+-\d+/);
  await until(async () => (await entity("saved")).counts.active === 0, "the job ends");
  await to("/snapshots");
  const card = main().locator("section.panel", { hasText: "before-purge-" });
  await card.getByRole("button", { name: "Restore" }).click();
  await agree("Restore");
  await toast(/Restored before-purge/);
  assert.equal((await entity("saved")).counts.active, 2);
  await card.getByRole("button", { name: "Delete" }).click();
  await agree("Delete 1 snapshot");
  await card.waitFor({ state: "detached" });
  await fetch(`${api}/entities/saved`, { method: "DELETE" });
});

test("rules: SQL with its error's place, correlation with types, parameters, delete", async () => {
  await put("ruled", { Subscriptions: [{ Name: "s" }] }, "?kind=topic");
  const path = "ruled/Subscriptions/s", rules = async () => Object.fromEntries((await entity(path)).rules.map((r) => [r.name, r.properties]));
  await to(`/entity/${encodeURIComponent(path)}/rules`);
  await main().getByRole("link", { name: "New rule" }).click();
  await field("Name").fill("large");
  await field("Condition").fill("amount > 1000\n AND AND region = 'eu'");
  await button("Create the rule").click();
  await sees("Line 2, column 6.");
  await refused(page, 400);
  await until(async () => (await selected("Condition")).trim() === "AND", "what is wrong is selected");
  await field("Condition").fill("amount > @least");
  await unfold("Parameters");
  await button("Add a parameter").click();
  await main().getByPlaceholder("Name").fill("@least");
  await main().getByLabel("Type of @least").selectOption("int");
  await main().getByLabel("Value of @least").fill("1000");
  await field("Action (optional)").fill("SET priority = 'high'");
  await button("Create the rule").click();
  await toast("Created the rule large.");
  assert.deepEqual(await rules(), { large: { FilterType: "Sql", SqlFilter: { SqlExpression: "amount > @least", Parameters: { "@least": { Type: "int", Value: 1000 } } }, Action: { SqlExpression: "SET priority = 'high'" } } });
  await main().getByRole("link", { name: "New rule" }).click();
  await field("Name").fill("eu");
  await button("Correlation filter").click();
  await field("Subject").fill("order");
  for (const [i, [name, type, value]] of [["n", "double", "5.0"], ["id", "long", "9007199254740993"]].entries()) {
    await button("Add a property").click();
    await main().getByPlaceholder("Name").nth(i).fill(name);
    await main().getByLabel(`Type of ${name}`).selectOption(type);
    await main().getByLabel(`Value of ${name}`).fill(value);
  }
  await button("Create the rule").click();
  await sees("subject = “order”");
  await main().getByRole("link", { name: "Edit eu" }).click();
  assert.deepEqual([await main().getByLabel("Type of n").inputValue(), await main().getByLabel("Value of n").inputValue(), await main().getByLabel("Value of id").inputValue()], ["double", "5.0", "9007199254740993"]);
  await field("Subject").fill("");
  await button("Save the rule").click();
  await toast(/Saved the rule/);
  const text = await (await fetch(`${api}/entities/${encodeURIComponent(path)}/rules/eu`)).text();
  assert.match(text, /"id":9007199254740993,"n":5\.0/);
  assert.doesNotMatch(text, /Label/);
  await main().locator(".rule-row", { hasText: "large" }).getByRole("button", { name: "Delete" }).click();
  await sees("1 rule remains.", page.getByRole("dialog"));
  await agree("Delete the rule");
  await main().locator(".rule-row", { hasText: "large" }).waitFor({ state: "detached" });
  await main().locator(".rule-row", { hasText: "eu" }).getByRole("button", { name: "Delete" }).click();
  await agree("Delete the rule");
  await sees("Without a rule the subscription gets no messages.");
  await main().focus();
  await page.keyboard.press("z"); // the newest first
  await main().locator(".rule-row", { hasText: "eu" }).waitFor();
  assert.match(await (await fetch(`${api}/entities/${encodeURIComponent(path)}/rules/eu`)).text(), /"id":9007199254740993,"n":5\.0/);
  await main().getByRole("link", { name: "New rule" }).click();
  await field("Name").fill("none");
  await button("No message").click();
  await button("Create the rule").click();
  await sees("selects no message");
  await main().locator(".rule-row", { hasText: "eu" }).getByRole("button", { name: "Delete" }).click();
  await agree("Delete the rule");
  await main().locator(".rule-row", { hasText: "eu" }).waitFor({ state: "detached" });
  await main().locator(".rule-row", { hasText: "none" }).getByRole("button", { name: "Delete" }).click();
  await sees("It is the last one", page.getByRole("dialog"));
  await agree("Delete the rule");
  await sees("Without a rule the subscription gets no messages.");
  await fetch(`${api}/entities/ruled`, { method: "DELETE" }); // a configuration can't say that there is no rule
  page.allowed.push(404);
});

test("the rule that takes everything is named when it makes the others useless", async () => {
  await put("shadowed", { Subscriptions: [{ Name: "s" }] }, "?kind=topic");
  const path = "shadowed/Subscriptions/s";
  await to(`/entity/${encodeURIComponent(path)}/rules?new=1`);
  await field("Name").fill("red");
  await field("Condition").fill("color = 'red'");
  await main().getByLabel(/Delete the rule/).uncheck();
  await button("Create the rule").click();
  await sees("so the other rules have no effect");
  await button("Delete it").click();
  await agree("Delete the rule");
  await main().getByText("so the other rules have no effect").waitFor({ state: "detached" });
  assert.deepEqual((await entity(path)).rules.map((r) => r.name), ["red"]);
});

test("the bench shows which subscriptions light up and why not the others, and sends nothing", async () => {
  await put("bench", { Subscriptions: [{ Name: "all" },
    { Name: "large", Rules: [{ Name: "big", Properties: { FilterType: "Sql", SqlFilter: { SqlExpression: "amount > 1000" }, Action: { SqlExpression: "SET priority = 'high'" } } }] }] }, "?kind=topic");
  await to("/entity/bench");
  await main().getByRole("link", { name: "Test a message" }).click();
  await sees("1 of 2 subscriptions gets it");
  const lamp = (name) => main().getByRole("region", { name, exact: true });
  await sees("amount is missing", lamp("large"));
  await button("Add a property").click();
  await main().getByPlaceholder("Name").fill("amount");
  await main().getByLabel("Type of amount").selectOption("int");
  await main().getByLabel("Value of amount").fill("x");
  await sees("The property amount must be a whole number.");
  await main().getByLabel("Value of amount").fill("7");
  await sees("amount > 1000 is false: amount is 7", lamp("large"));
  await main().getByLabel("Value of amount").fill("1500");
  await sees("2 of 2 subscriptions get it");
  await sees("amount > 1000", lamp("large"));
  await sees("priority", lamp("large"));
  await sees("high", lamp("large"));
  await page.reload(); // the message stands in the address
  await sees("2 of 2 subscriptions get it");
  assert.equal(await main().getByLabel("Value of amount").inputValue(), "1500");
  await lamp("large").getByRole("link", { name: "Only this subscription" }).click();
  await heading("bench/large");
  await sees("1 of 1 subscription gets it");
  await unfold("Try a rule before saving it");
  await field("Condition").fill("amount >");
  await button("Try the rule").click();
  await sees("There is an error in the rule you try");
  await refused(page, 400);
  await sees(/Line 1, column/);
  await field("Condition").fill("amount > 2000");
  await button("Try the rule").click();
  await sees("With the rule you try: 0 of 1 subscription gets it");
  await sees("amount > 2000 is false: amount is 1500");
  await main().getByRole("link", { name: "Save as a new rule" }).click();
  await sees("New rule");
  await sees("amount > 2000");
  await page.goBack();
  await button("Back to the saved rules").click();
  await sees("1 of 1 subscription gets it");
  await main().getByRole("link", { name: /Test all subscriptions/ }).click();
  await sees("2 of 2 subscriptions get it");
  for (const name of ["all", "large"]) assert.equal((await entity(`bench/Subscriptions/${name}`)).counts.active, 0);
});

test("a rule can be tested before it is saved", async () => {
  await put("before", { Subscriptions: [{ Name: "s" }] }, "?kind=topic");
  await to(`/entity/${encodeURIComponent("before/Subscriptions/s")}/rules?new=1`);
  await button("Correlation filter").click();
  await field("Subject").fill("order");
  await button("Test before saving").click();
  await sees("0 of 1 subscription gets it");
  await main().locator(".settings").first().getByLabel("Subject").fill("order");
  await sees("1 of 1 subscription gets it");
  assert.deepEqual((await entity("before/Subscriptions/s")).rules.map((r) => r.name), ["$Default"]);
});

test("a text that is typed before the page has drawn what the program set stays", { timeout: 60_000 }, async () => {
  await to("/configuration");
  await button("Edit a copy").click();
  await button("Compare").click();
  await sees("No changes.");
  const clear = await button("Clear").elementHandle();
  await field("Config.json").evaluate(async (editor, clear) => {
    clear.click();
    await 0; // the page has rendered, and has not drawn
    editor.focus();
    document.execCommand("insertText", false, "typed");
  }, clear);
  await until(async () => /typed$/.test(await field("Config.json").innerText()), "the editor has the text");
  await main().getByRole("button", { name: "Compare", exact: true, disabled: false }).waitFor();
});

test("configuration: copy, download, compare, apply, and what is lost", async () => {
  await put("lost", {});
  await put("kept", {});
  await client.createSender("lost").sendMessages([{ body: "1" }, { body: "2" }]);
  await chord(page, "g", "i");
  await heading("Configuration");
  await sees('"UserConfig"');
  const running = JSON.parse(await copied(page, button("Copy").first()));
  const file = page.waitForEvent("download");
  await button("Download").click();
  assert.equal((await file).suggestedFilename(), "Config.json");
  for (const [format, name, has] of [["Bicep", "servicebus.bicep", "resource queue_kept 'Microsoft.ServiceBus/namespaces/queues@"], ["Terraform", "servicebus.tf", 'resource "azurerm_servicebus_queue" "kept"']]) {
    const module = page.waitForEvent("download");
    await button(`Download ${format}`).click();
    assert.equal((await module).suggestedFilename(), name);
    assert.ok(readFileSync(await (await module).path(), "utf8").includes(has), format);
  }
  await button("Edit a copy").click();
  await button("Compare").click();
  await sees("No changes.");
  await button("Clear").click(); // a long text is not in the page as a whole, so fill would leave its end
  await field("Config.json").fill('{"Queues": [\n  {"Name": "kept", "Properties": {"LockDuration": "x"}}]}');
  await button("Compare").click();
  await sees("$.Queues[0].Properties.LockDuration");
  await refused(page, 400);
  await main().getByRole("button", { name: /line 2, column/ }).click();
  await until(async () => /^"x"/.test(await selected("Config.json")), "what is wrong is selected");
  const mine = running.UserConfig.Namespaces[0];
  mine.Queues = mine.Queues.filter((q) => q.Name !== "lost");
  mine.Queues.find((q) => q.Name === "kept").Properties.MaxDeliveryCount = 8;
  mine.Queues.push({ Name: "fresh" });
  const name = join(tmpdir(), `config-${process.pid}.json`);
  writeFileSync(name, JSON.stringify(running));
  await main().locator("input[type=file]").setInputFiles(name);
  await sees('"fresh"');
  await button("Compare").click();
  await sees("1 created");
  await until(() => main().getByText("1 created").evaluate((e) => e.getBoundingClientRect().bottom <= innerHeight), "what Compare found is in sight");
  await sees("1 changed");
  assert.equal(await main().locator(".diff.delete").count(), 0);
  await main().getByLabel(/Delete entities/).check();
  const gone = main().locator(".diff.delete", { hasText: "lost" });
  await sees("2 messages lost", gone);
  await sees("→ 8", main().locator(".diff.change"));
  assert.equal((await entity("fresh")).status, 404, "nothing is changed by a comparison");
  await button("Apply").click();
  await sees("2 messages", page.getByRole("dialog"));
  await agree("Apply and delete 1 entity");
  await toast("Applied the configuration.");
  await sees("Applied");
  assert.equal((await entity("lost")).status, 404);
  assert.equal((await entity("kept")).properties.MaxDeliveryCount, 8);
  assert.equal((await entity("fresh")).kind, "queue");
  await field("Config.json").fill(JSON.stringify({ Queues: [{ Name: "kept", Properties: { MaxDeliveryCount: 7 } }] }));
  await main().getByLabel(/Delete entities/).uncheck();
  await button("Compare").click();
  await sees("→ 7");
  await button("Apply").click();
  await sees("No message is lost.", page.getByRole("dialog"));
  await agree("Apply");
  await undo();
  await toast("Changes and deletions are undone.");
  assert.equal((await entity("kept")).properties.MaxDeliveryCount, 8);
  await field("Config.json").fill(JSON.stringify({ Queues: [{ Name: "kept", Properties: { RequiresSession: true } }] }));
  await button("Compare").click();
  await sees("Nothing can be applied");
  await sees("set at creation");
  assert.equal(await button("Apply").isDisabled(), true);
});
