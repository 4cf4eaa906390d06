"use strict";

const { namedMinibus } = require("./lib/control.js");
const { Minibus } = require("./lib/server.js");

let server;

/** Gives a test of node:test a namespace, on the server of SERVICEBUS_CONNECTION_STRING or on one of the test file. */
async function minibus(test, options) {
  server ??= namedMinibus() ? Minibus.connect() : Minibus.start();
  const bus = await (await server).namespace(options);
  test.after(() => bus.stop());
  return bus;
}

module.exports = { minibus };
