// Every screen, in both themes and widths: no error, nothing from elsewhere, nothing wider than the window, nothing that axe-core finds.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import rhea from "rhea"; // which the SDK speaks AMQP with
import { address, check, checkDark, chord, copied, launch, open, settled, show, sizes, until } from "./page.mjs";
import { connect, fill, namespace } from "./house.mjs";

const client = connect();
let browser;

// resource is the namespace as Azure Resource Manager names it, worker an identity beside it.
const group = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/minibus";
const resource = `${group}/providers/Microsoft.ServiceBus/namespaces/${namespace}`, worker = `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/shop-worker`;

// manage asks Resource Manager, as az and Terraform do.
async function manage(method, id, body) {
  const answer = await fetch(`${address}${id}?api-version=2024-01-01`, { method, headers: { Authorization: "Bearer any", "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${id}: ${answer.status}`);
  return answer.status === 204 ? undefined : answer.json();
}

const assign = (scope, n, role, principalId) => manage("PUT", `${scope}/providers/Microsoft.Authorization/roleAssignments/a0000000-0000-4000-8000-00000000000${n}`,
  { properties: { roleDefinitionId: `/providers/Microsoft.Authorization/roleDefinitions/${role}`, principalId } });

before(async () => {
  await fill(client);
  await manage("PATCH", resource, { tags: { env: "dev", "cost center": "<b>shop</b>" }, identity: { type: "SystemAssigned" } });
  const { properties } = await manage("PUT", worker, { location: "local" });
  await assign(`${resource}/queues/orders`, 1, "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39", properties.principalId);
  await assign(group, 2, "8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "aaaaaaaa-0000-4000-8000-000000000001");
  await manage("PUT", `${resource}/providers/Microsoft.Authorization/locks/keep`, { properties: { level: "CanNotDelete" } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await client.close();
});

// screens has the address of each screen, and a text that it shows.
const screens = {
  overview: ["", "10 entities"],
  events: ["/events", "PaymentDeclined"],
  queue: ["/entity/orders", "Connected clients"],
  topic: ["/entity/events", "Subscriptions"],
  subscription: ["/entity/events%2FSubscriptions%2Flarge", "events/large"],
  messages: ["/entity/orders/messages", "order-19"],
  message: ["/entity/orders/messages/7", "Application properties"],
  dead: ["/entity/orders/dead", "By reason"],
  letter: ["/entity/orders/dead/1", "the card was refused"],
  send: ["/entity/orders/send?from=orders%2F%24DeadLetterQueue&number=1", "Application properties"],
  fresh: ["/entity/orders/send", "Save a message that you send often"],
  from: ["/entity/orders/messages?from=12&order=oldest", "from #"],
  sessions: ["/entity/carts/sessions", "alice"],
  history: ["/entity/orders/history", "PaymentDeclined"],
  why: ["/entity/orders/why", "What to do"],
  whose: ["/entity/events/why", "Matched"],
  traced: ["/events?messageId=order-0", "PaymentDeclined"],
  nothing: ["/entity/empty/messages", "No messages."],
  life: ["/life?entity=orders&sequenceNumber=1", "Dead-lettered"],
  connections: ["/connections", "MSJSClient"],
  faults: ["/faults", "Inject a fault"],
  snapshots: ["/snapshots", "No snapshots"],
  receive: ["/entity/orders/receive", "No messages held."],
  calendar: ["/entity/orders/messages?view=day", "next due"],
  clock: ["/clock", "Due next"],
  jobs: ["/jobs", "No jobs since Minibus started"],
  create: ["/new?kind=queue", "A name is enough: the rest"],
  subscribe: ["/new?kind=subscription&topic=events", "The topic whose messages it gets."],
  settings: ["/entity/orders/settings", "Set at creation"],
  rules: ["/entity/events%2FSubscriptions%2Flarge/rules", "selects messages where"],
  rule: ["/entity/events%2FSubscriptions%2Flarge/rules/big", "Action (optional)"],
  equal: ["/entity/events%2FSubscriptions%2Flarge/rules?new=1", "Correlation filter"],
  bench: ["/entity/events/test?m=" + encodeURIComponent('{"subject":"a","p":[["amount","int","7"]]}'), "amount > 1000 is false"],
  trial: ["/entity/events%2FSubscriptions%2Flarge/test?rule=" + encodeURIComponent('{"FilterType":"Sql","SqlFilter":{"SqlExpression":"amount > 5"}}'), "With the rule you try"],
  configuration: ["/configuration", "UserConfig"],
  namespaces: ["/namespaces", "New namespace"],
  connect: ["/connect", "RootManageSharedAccessKey"],
  resource: ["/resource", "az servicebus namespace create"],
  long: ["/entity/a-name-that-goes-on-and-on-until-it-fits-nowhere-and-then-goes-on-a-little-more-to-be-sure", "No connected clients."],
  wrong: ["/nowhere", "There is no screen at this address."],
};

for (const size of ["wide", "phone"]) {
  test(`screens, ${size}`, async () => {
    const page = await open(browser, { size });
    await page.getByRole("heading", { name: namespace }).waitFor();
    const wrong = [];
    const both = async (name) => {
      await check(page, name);
      await checkDark(page, name);
    };
    const docs = new Set(); // the pages to which the screens lead
    for (const [name, [hash, text]] of Object.entries(screens)) {
      await show(page, `#/${namespace}${hash}`);
      await page.locator("main").getByText(text).filter({ visible: true }).first().waitFor().catch(() => wrong.push(`${name} does not show ${text}`));
      await both(name).catch((e) => wrong.push(e.message));
      page.errors.splice(0);
      docs.add(await page.locator("a.docs").evaluate((a) => a.href));
    }
    for (const href of docs) if ((await fetch(href)).status !== 200) wrong.push(`the docs have no ${href}`);
    assert.deepEqual(wrong, []);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Screen, entity or message" }).waitFor();
    await both(`palette, ${size}`);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await both(`keys, ${size}`);
    await page.context().close();
  });
}

test("an unknown namespace and an unknown entity say so", async () => {
  const page = await open(browser);
  page.allowed.push(404);
  await show(page, `#/${namespace}/entity/none`);
  await page.getByRole("alert").filter({ hasText: /none/ }).first().waitFor();
  await show(page, "#/nowhere");
  await page.locator("main").getByText("There is no such namespace.").waitFor();
  await page.locator("main").getByText("nowhere").waitFor();
  await page.context().close();
});

test("an address that is entered while the page loads stays", async () => {
  const page = await open(browser, { path: "/livez" });
  page.allowed.push(404);
  await page.addInitScript((hash) => {
    const text = Response.prototype.text;
    Response.prototype.text = async function () {
      const answer = await text.call(this);
      if (this.url.endsWith("/namespaces") && location.hash === "") location.hash = hash; // its event comes later
      return answer;
    };
  }, `#/${namespace}/entity/none`);
  await page.goto(address);
  await page.getByRole("alert").filter({ hasText: /none/ }).first().waitFor();
  await page.context().close();
});

// pass lets time pass for the timers of the page, a second after the other, and waits each time for what they asked.
async function pass(page, seconds) {
  for (let i = 0; i < seconds; i++) {
    await page.clock.runFor(1000);
    await until(() => page.unanswered.size === 0, "the page has its answers");
  }
}

test("a page asks at most once a second, and a hidden one for nothing", async () => {
  const page = await open(browser);
  await page.clock.install();
  await page.reload();
  await page.getByRole("heading", { name: namespace }).waitFor();
  let asked = 0;
  page.on("request", () => asked++);
  await pass(page, 20);
  assert.ok(asked > 5 && asked <= 20, `${asked} requests in twenty seconds`);
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { get: () => true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await until(() => page.unanswered.size === 0, "the round that was under way ends");
  const ended = asked;
  await pass(page, 60);
  assert.equal(asked, ended);
  await page.context().close();
});

test("the Azure resource: its id, tags, policies without keys, roles, and the code that creates it", async () => {
  const page = await open(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("heading", { name: namespace }).waitFor();
  await chord(page, "g", "r");
  const main = page.locator("main"), sees = (text) => main.getByText(text).first().waitFor(), code = (title) => main.getByLabel(`The namespace in ${title}`);
  await main.getByRole("heading", { name: "Azure resource" }).waitFor();
  await sees("cost center: <b>shop</b>");
  assert.equal(await copied(page, main.getByRole("button", { name: "Copy", exact: true }).first()), resource);
  const rows = main.getByRole("region", { name: "Role assignments" }).locator("tbody tr");
  assert.deepEqual((await rows.allInnerTexts()).map((t) => t.split(/\s+/).join(" ").trim()), [
    "Owner none aaaaaaaa-0000-4000-8000-000000000001 ServicePrincipal resource group minibus", "Azure Service Bus Data Sender Send shop-worker ServicePrincipal orders",
  ]);
  const { properties } = await manage("GET", worker);
  const identities = main.getByRole("region", { name: "Identities" });
  assert.equal(await copied(page, identities.getByRole("row", { name: "shop-worker" }).getByRole("button", { name: "Copy client id" })), properties.clientId);
  await sees("Microsoft.Authorization/locks");
  await code("az").getByText("--assignee-object-id " + properties.principalId).waitFor();
  assert.ok(!(await main.innerText()).includes("SAS_KEY_VALUE"), "a key is shown");
  assert.match(await copied(page, main.getByRole("button", { name: "Copy connection string" })), /SharedAccessKey=SAS_KEY_VALUE/);
  await main.getByRole("button", { name: "Bicep", exact: true }).click();
  await code("Bicep").getByText("scope: queue_orders").waitFor();
  const file = page.waitForEvent("download");
  await main.getByRole("button", { name: "Download servicebus.bicep" }).click();
  assert.equal((await file).suggestedFilename(), "servicebus.bicep");
  await main.getByRole("button", { name: "Terraform", exact: true }).click();
  await code("Terraform").getByText("azurerm_role_assignment").waitFor();
  await manage("DELETE", `${resource}/queues/orders/providers/Microsoft.Authorization/roleAssignments/a0000000-0000-4000-8000-000000000001`);
  await until(async () => (await rows.count()) === 1 && !(await code("Terraform").innerText()).includes("azurerm_role_assignment"), "the role is gone from the list and the code");
  await rows.getByRole("link").count().then((n) => assert.equal(n, 0));
  page.allowed.push(404);
  await page.route(/\/resource$/, (r) => r.fulfill({ status: 404, contentType: "application/problem+json", body: "{}" }));
  await sees("Resource Manager is off");
  await settled(page);
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("what JMS clients make, select and browse is told", async () => {
  const port = Number(/sb:\/\/[^:]+:(\d+)/.exec(process.env.MINIBUS_CONNECTION_STRING)[1]), connection = rhea.create_container({ id: "shop" }).connect({ host: "localhost", port, reconnect: false });
  const receive = (name, source) => connection.open_receiver({ name, credit_window: 0, source });
  const reply = connection.open_sender({ target: { dynamic: true, expiry_policy: "link-detach", capabilities: ["temporary-queue"], dynamic_node_properties: { "lifetime-policy": rhea.types.wrap_described([], 0x2b) } } });
  const receivers = [
    receive("prices", { address: "events", durable: 2, expiry_policy: "never", distribution_mode: "copy", capabilities: ["topic"], filter: rhea.filter.selector("amount > 5") }),
    receive("wants", { address: "live", capabilities: ["queue"], filter: rhea.filter.selector("size = 'large'") }),
    receive("looks", { address: "live", distribution_mode: "copy", capabilities: ["queue"] }),
  ];
  await Promise.all([once(reply, "sender_open"), ...receivers.map((r) => once(r, "receiver_open"))]);
  const page = await open(browser), temporary = reply.target.address, main = page.locator("main");
  const entity = (path) => page.getByRole("table", { name: "Entities" }).getByRole("row").filter({ hasText: path });
  await entity("prices$shop$D").getByText("JMS", { exact: true }).waitFor();
  await entity(temporary).getByText("temporary", { exact: true }).waitFor();
  await check(page, "the overview with entities of JMS clients");
  await checkDark(page, "the overview with entities of JMS clients");
  const to = (path) => show(page, `#/${namespace}/entity/${encodeURIComponent(path)}`), link = (text) => main.getByRole("row", { name: /^receiver/ }).filter({ hasText: text });
  await to("events/Subscriptions/prices$shop$D");
  await main.locator(".title").getByText("JMS", { exact: true }).waitFor();
  await main.getByText("durable, one consumer at a time; 1 active consumer").waitFor();
  await link("selector amount > 5").waitFor();
  await to(temporary);
  await main.locator(".title").getByText("temporary", { exact: true }).waitFor();
  await main.getByText("it ends with the connection of its JMS client").waitFor();
  await to("live");
  await link("selector size = 'large'").getByRole("link", { name: "Why?" }).waitFor();
  await link("browsing").waitFor();
  assert.equal(await link("browsing").getByRole("link", { name: "Why?" }).count(), 0, "a browser takes nothing");
  assert.equal(await main.getByText("browsing").count(), 1);
  await check(page, "links of JMS clients");
  await checkDark(page, "links of JMS clients");
  await page.setViewportSize(sizes.phone);
  await check(page, "links of JMS clients on a phone");
  connection.close();
  await show(page, `#/${namespace}`);
  await entity(temporary).waitFor({ state: "detached" });
  await page.context().close();
});
