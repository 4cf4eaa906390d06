"use strict";

const { Minibus } = require("./lib/server.js");
const { Namespace } = require("./lib/namespace.js");
const { MinibusError } = require("./lib/control.js");

module.exports = { Minibus, Namespace, MinibusError };
