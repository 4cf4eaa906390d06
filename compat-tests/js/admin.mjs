// What the tests of the administration client share. MINIBUS_PORT_HTTP is the port of the HTTP listener, whose certificate
// authority stands in NODE_EXTRA_CA_CERTS; MINIBUS_CONNECTION_STRING is for messages; MINIBUS_SDK is the package to test.
// admin_test.go sets them.
import assert from "node:assert/strict";

export const { ServiceBusAdministrationClient, ServiceBusClient } = await import(process.env.MINIBUS_SDK ?? "@azure/service-bus");
export const host = `localhost:${process.env.MINIBUS_PORT_HTTP}`;
export const namespace = process.env.MINIBUS_NAMESPACE;
export const endpoint = `sb://${host}/`;
export const forever = "P10675199DT2H48M5.4775807S";
export const quickly = { retryOptions: { maxRetries: 0 } };

// The string that a user pastes, with the HTTP port. 7.9 speaks https in any case, 7.10 http where the emulator is named.
export function connectionString(policy = "RootManageSharedAccessKey", key = "SAS_KEY_VALUE") {
  return `Endpoint=${endpoint};SharedAccessKeyName=${policy};SharedAccessKey=${key};UseDevelopmentEmulator=true`;
}

export const admin = new ServiceBusAdministrationClient(connectionString(), quickly);

// Every refusal is the SDK's own error, with a code that it makes from status and text.
export async function refused(call, code, statusCode, message) {
  await assert.rejects(call, (error) => {
    assert.deepEqual([error.name, error.code, error.statusCode], ["RestError", code, statusCode], error.message);
    assert.match(error.message, message);
    return true;
  });
}

export const invalid = (call, message) => refused(call, "ServiceError", 400, message);
export const exists = (call, message) => refused(call, "MessageEntityAlreadyExistsError", 409, message);
export const missing = (call, message) => refused(call, "MessageEntityNotFoundError", 404, message);

// A queue or topic that is missing is an empty feed, of which the SDK makes an error of its own; so is all below a topic
// that is missing.
export const absent = (call) => refused(call, "MessageEntityNotFoundError", 200, /^The messaging entity ".*" being requested cannot be found\.$/);

// Checks that times are of just now and in order, and returns the rest of the runtime properties. The broker shows
// times with more digits than JavaScript keeps.
export function recent({ createdAt, modifiedAt, accessedAt, ...rest }, since) {
  assert.ok(createdAt >= since - 1 && createdAt <= modifiedAt && modifiedAt <= Date.now() + 1, `created ${createdAt}, modified ${modifiedAt}`);
  assert.ok(accessedAt instanceof Date && !Number.isNaN(accessedAt.getTime()), `accessed ${accessedAt}`);
  return rest;
}

export async function collect(iterator) {
  const all = [];
  for await (const x of iterator) all.push(x);
  return all;
}
