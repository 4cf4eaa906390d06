"use strict";

// The globalSetup of Jest and Vitest: one server for all workers, which find it by Minibus.connect(). It ends with the
// test runner.
const { namedMinibus, variable } = require("./lib/control.js");
const { Minibus } = require("./lib/server.js");

module.exports = async function setup() {
  if (namedMinibus()) return; // under minibus run, in CI, or a second run in watch mode
  const server = await Minibus.start();
  process.env[variable] = server.connectionString;
};
