import type { Client, ClientOptions } from "openapi-fetch";
import type { components, paths } from "./schema.js";

/** A client with a typed method for each method of HTTP: client.GET("/$minibus/v1/namespaces/{namespace}/entities", ...). */
export type ControlClient = Client<paths>;

/** The types of the API's documents: Schemas["Entity"]. */
export type Schemas = components["schemas"];

/**
 * Returns a client for the Minibus of a connection string, with a token that lasts tokenLife seconds (an hour without it). Other options
 * are those of openapi-fetch.
 */
export function connect(connectionString: string, options?: { tokenLife?: number } & Omit<ClientOptions, "baseUrl">): ControlClient;
