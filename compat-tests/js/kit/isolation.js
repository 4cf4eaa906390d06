// Four files run these tests, and use queues of the same name at the same time. They meet at a queue that all of them see.
const { Minibus } = require("minibus");

exports.isolation = (file) => {
  test("a file sees its own messages only", async () => {
    const server = await Minibus.connect();
    const bus = await server.namespace({ queues: ["orders"] });
    const bodies = [1, 2, 3].map((n) => `${file} ${n}`);
    await bus.send("orders", bodies.map((body) => ({ body })));
    await server.put({ queues: ["meeting"] });
    await server.send("meeting", { body: file });
    await server.waitFor({ entity: "meeting", counts: { active: 4 } });
    expect((await bus.messages("orders")).map((message) => message.body)).toEqual(bodies);
    await bus.stop();
  }, 60_000);
};
