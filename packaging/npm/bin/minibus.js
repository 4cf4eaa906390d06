#!/usr/bin/env node
// Runs the binary of the package for this platform in the place of this process.
"use strict";

const { accessSync, constants } = require("node:fs");
const { findBinary } = require("../lib/binary.js");

function fail(code, text) {
  console.error(`minibus: ${text}`);
  process.exit(code);
}

let binary;
try {
  binary = findBinary();
} catch (error) {
  fail(127, error.message);
}
try {
  accessSync(binary, constants.X_OK);
} catch (error) {
  fail(126, `${binary} can't be run: ${error.message}`);
}
const args = process.argv.slice(2);
if (process.platform !== "win32" && process.execve) {
  process.execve(binary, [binary, ...args], process.env); // Node.js 22.15 and later: it does not return
}

const { spawn } = require("node:child_process");
const child = spawn(binary, args, { stdio: "inherit" });

// Ctrl-C at a terminal reaches the binary too, and a second one ends it at once: it must not get each twice.
const terminal = process.platform === "win32" || [0, 1, 2].some((fd) => require("node:tty").isatty(fd));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !terminal) child.kill(signal);
  });
}
child.on("error", (error) => fail(126, `${binary} can't be run: ${error.message}`));
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
