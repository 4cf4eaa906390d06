import type { Client, ClientOptions } from "openapi-fetch";
import type { components, paths } from "./schema.js";

/** A client with a typed method for each method of HTTP: client.GET("/$minibus/v1/namespaces/{namespace}/entities", ...). */
export type ControlClient = Client<paths>;

/** The types of the API's documents: Schemas["Entity"]. */
export type Schemas = components["schemas"];

/** What Minibus refused: status is that of HTTP, detail says what is wrong, where, and what to do. */
export class ControlError extends Error {
  readonly status: number;
  readonly detail: string;
}

/**
 * Returns a client for the Minibus of a connection string, with a token that lasts tokenLife seconds (an hour without it). Without
 * throwErrors a call returns what Minibus refuses as error, beside data; with it the call throws a ControlError. Other options are those of
 * openapi-fetch. A string that lacks a part is a TypeError.
 */
export function connect(connectionString: string, options?: { tokenLife?: number; throwErrors?: boolean } & Omit<ClientOptions, "baseUrl">): ControlClient;
