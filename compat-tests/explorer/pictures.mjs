// Draws the pictures of README.md and docs/explorer.md: a shop after some minutes of traffic. It starts a Minibus of its own. make pictures runs it.
//
//   node pictures.mjs MINIBUS
import { pause, start } from "./own.mjs";

const [minibus] = process.argv.slice(2), directory = "../../docs/images", minutes = 5;
const { ports, stop } = await start(minibus, "--config", "../../config/examples/shop.json");
process.env.MINIBUS_EXPLORER = `http://localhost:${ports.http}`;
process.env.MINIBUS_CONNECTION_STRING = `Endpoint=sb://localhost:${ports.amqp};SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;`;
const { launch, open, settled } = await import("./page.mjs"), { connect } = await import("./house.mjs");
const client = connect();

const customers = ["Ada Lovelace", "Grace Hopper", "Alan Turing", "Katherine Johnson"], items = ["Espresso cup", "Desk lamp", "Notebook", "Headphones"];

const order = (n) => ({
  body: { orderId: `ORD-${n}`, customer: customers[n % 4], items: [{ name: items[n % 4], quantity: 1 + (n % 3) }], total: 19.9 + (n % 7) * 10 },
  messageId: `ORD-${n}`, correlationId: `cart-${n}`, subject: "order", contentType: "application/json", applicationProperties: { country: n % 5 === 0 ? "de" : "fr", amount: (n % 4) * 400 },
});

// trade sends and receives, for the chart.
async function trade() {
  const orders = client.createSender("orders"), payments = client.createSender("payments"), events = client.createSender("events");
  const worker = client.createReceiver("orders", { receiveMode: "receiveAndDelete" }), cashier = client.createReceiver("payments"), audit = client.createReceiver("events", "everything", { receiveMode: "receiveAndDelete" });
  await orders.scheduleMessages([1, 2].map((i) => order(9000 + i)), new Date(Date.now() + 3_600_000));
  let n = 2000, declined = 0;
  const wave = (at) => Math.max(0, Math.round(4 + 3 * Math.sin(at / 30) + 2 * Math.sin(at / 11)));
  for (const begin = Date.now(); ;) {
    const at = (Date.now() - begin) / 1000;
    if (at > minutes * 60) break;
    const batch = Array.from({ length: wave(at) }, () => order(++n));
    if (batch.length > 0) await Promise.all([orders.sendMessages(batch), payments.sendMessages(batch.slice(0, Math.ceil(batch.length / 2))), events.sendMessages(batch.slice(0, 3))]);
    await worker.receiveMessages(wave(at - 15) || 1, { maxWaitTimeInMs: 100 }); // it lags behind
    for (const m of await cashier.receiveMessages(10, { maxWaitTimeInMs: 100 })) {
      if (declined < 3 && at > (declined + 1) * 60) {
        declined++;
        await cashier.deadLetterMessage(m, { deadLetterReason: "PaymentDeclined", deadLetterErrorDescription: "The card was declined by the bank: insufficient funds." });
      } else await cashier.completeMessage(m);
    }
    await audit.receiveMessages(5, { maxWaitTimeInMs: 100 });
    await pause(500);
  }
}

async function draw() {
  const browser = await launch();
  for (const [name, theme, hash] of [["overview", "light", ""], ["overview-dark", "dark", ""], ["dead-letter", "dark", "/entity/payments/dead/"]]) {
    const page = await open(browser, { theme, path: hash && `/#/sbemulatorns${hash}` });
    if (hash) await page.getByRole("link", { name: /^\d+$/ }).first().click();
    await page.locator(hash ? "main .one" : ".hour path.line").first().waitFor();
    await settled(page);
    await page.screenshot({ path: `${directory}/explorer-${name}.png` });
    await page.context().close();
  }
  await browser.close();
}

try {
  await trade();
  await draw();
} finally {
  await client.close();
  stop();
}
