// Four files run these tests, and use queues of the same name at the same time.
const { useNamespace } = require("./namespace");

exports.isolation = (file) => {
  const bus = useNamespace();

  test("a file sees its own messages only", async () => {
    const sent = [1, 2, 3].map((n) => `${file} ${n}`);
    await bus.client.createSender("orders").sendMessages(sent.map((body) => ({ body })));
    const met = await fetch(`${process.env.MINIBUS_MEETING}?${encodeURIComponent(bus.connectionString)}`);
    expect(met.status).toBe(200);

    const receiver = bus.client.createReceiver("orders");
    const received = [];
    for (;;) {
      const messages = await receiver.receiveMessages(100, { maxWaitTimeInMs: received.length < sent.length ? 30_000 : 2_000 });
      if (messages.length === 0) break;
      for (const message of messages) {
        received.push(message.body);
        await receiver.completeMessage(message);
      }
    }
    expect(received).toEqual(sent);
  }, 240_000);
};
