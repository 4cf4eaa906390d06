"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { optionalDependencies } = require("../package.json");

const scope = "@minibus/";
const program = process.platform === "win32" ? "minibus.exe" : "minibus";

/**
 * Returns the path of the binary: the one given, that of MINIBUS_PATH, that of the package for this platform, or one in
 * the PATH.
 */
function findBinary(given) {
  if (given) return existing(given, "the option binary");
  if (process.env.MINIBUS_PATH) return existing(process.env.MINIBUS_PATH, "MINIBUS_PATH");
  const name = `${scope}${process.platform}-${process.arch}`;
  let file;
  try {
    file = require.resolve(`${name}/bin/${program}`);
  } catch {
    const found = inPath();
    if (found) return found;
    throw new Error(explain(name));
  }
  return executable(file);
}

// inPath leaves out scripts: npm and pnpm put one named minibus into the PATH, which looks for the binary here.
function inPath() {
  const directories = (process.env.PATH ?? "").split(path.delimiter).filter((directory) => directory !== "");
  return directories.map((directory) => path.resolve(directory, program)).find(isBinary);
}

function isBinary(file) {
  let opened;
  try {
    fs.accessSync(file, fs.constants.X_OK);
    opened = fs.openSync(file);
    const start = Buffer.alloc(2);
    return fs.readSync(opened, start) === 2 && start.toString() !== "#!";
  } catch {
    return false; // there is none, or it is a directory
  } finally {
    if (opened !== undefined) fs.closeSync(opened);
  }
}

function existing(file, source) {
  if (!fs.existsSync(file)) throw new Error(`There is no Minibus at ${path.resolve(file)}, which ${source} names.`);
  return path.resolve(file);
}

// Copies of node_modules, such as the artifacts of a CI job, come without the right to execute.
function executable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
  } catch {
    fs.chmodSync(file, 0o755);
  }
  return file;
}

/** Says why the package with the binary is missing, and what to do. */
function explain(name) {
  const platform = name.slice(scope.length);
  const lines = [`Minibus has no binary for this system: the package ${name} is not installed.`];
  const others = Object.keys(optionalDependencies).filter((other) => other !== name && installed(other));
  const lockFile = nearest("package-lock.json");
  if (!(name in optionalDependencies)) {
    lines[0] = `Minibus has no package for ${platform}. There are packages for ${Object.keys(optionalDependencies)
      .map((other) => other.slice(scope.length))
      .join(", ")}.`;
  } else if (others.length > 0) {
    lines.push(
      `node_modules has ${others.join(", ")}: it comes from another system, or from a Node.js for another processor.`,
      `This Node.js is for ${platform}.`,
      "Delete node_modules and run npm install here. In Docker, don't copy node_modules into the image.",
    );
  } else if (/\boptional\b/.test(process.env.npm_config_omit ?? "")) {
    lines.push("npm is set to omit optional packages (omit=optional).", "Run: npm install --include=optional");
  } else if (
    lockFile &&
    fs.readFileSync(lockFile, "utf8").includes(`node_modules/minibus"`) &&
    !fs.readFileSync(lockFile, "utf8").includes(`node_modules/${name}"`)
  ) {
    lines.push(
      `${lockFile} does not have it: npm wrote the file on another system, and left out the packages for this one.`,
      "Delete node_modules and package-lock.json, and run npm install.",
    );
  } else {
    lines.push(
      "It is optional, and was left out: with --no-optional, --omit=optional, or omit=optional in .npmrc.",
      "Run: npm install --include=optional",
    );
  }
  lines.push("Or build Minibus with Go, and put it into your PATH, which has none, or name it in MINIBUS_PATH.");
  return lines.join("\n");
}

function installed(name) {
  try {
    require.resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}

// nearest looks for a file in the directories above this one.
function nearest(name) {
  for (let directory = __dirname; ; directory = path.dirname(directory)) {
    const file = path.join(directory, name);
    if (fs.existsSync(file)) return file;
    if (directory === path.dirname(directory)) return undefined;
  }
}

module.exports = { findBinary };
