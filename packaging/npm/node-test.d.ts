import type { Namespace, NamespaceOptions } from "./index.js";

/**
 * Gives a test of node:test a namespace of its own, and deletes it after the test. It is on the server of
 * SERVICEBUS_CONNECTION_STRING, as under `minibus run`, else on one that runs as long as the test file.
 */
export function minibus(
  test: { after(hook: () => Promise<void>): void },
  options?: NamespaceOptions,
): Promise<Namespace>;
