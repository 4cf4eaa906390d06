/// <reference lib="esnext.disposable" />

/** Milliseconds, `"1h30m"`, `"90s"`, `"500ms"`, `"7d"`, or ISO 8601 such as `"PT1H"`. */
export type Duration = number | string;

/** A time; as a text in ISO 8601. */
export type Time = Date | string;

/** Settings of an entity, named as in Config.json. */
interface Settings {
  name: string;
  /** Fixed when the entity is created. */
  requiresDuplicateDetection?: boolean;
  duplicateDetectionHistoryTimeWindow?: Duration;
  /** An hour unless you say otherwise. */
  defaultMessageTimeToLive?: Duration;
  autoDeleteOnIdle?: Duration;
  enableBatchedOperations?: boolean;
  status?: "Active" | "Disabled" | "SendDisabled" | "ReceiveDisabled";
  userMetadata?: string;
  authorizationRules?: {
    keyName: string;
    rights: ("Manage" | "Send" | "Listen")[];
    primaryKey?: string;
    secondaryKey?: string;
  }[];
}

interface Received {
  lockDuration?: Duration;
  /** 3 unless you say otherwise. */
  maxDeliveryCount?: number;
  /** Fixed when the entity is created. */
  requiresSession?: boolean;
  deadLetteringOnMessageExpiration?: boolean;
  forwardTo?: string;
  forwardDeadLetteredMessagesTo?: string;
}

interface Sized {
  enablePartitioning?: boolean;
  maxMessageSizeInKilobytes?: number;
  maxSizeInMegabytes?: number;
}

export interface Queue extends Settings, Received, Sized {}

export interface Subscription
  extends Omit<Settings, "requiresDuplicateDetection" | "duplicateDetectionHistoryTimeWindow">, Received {
  deadLetteringOnFilterEvaluationExceptions?: boolean;
  /** Which messages it gets: all without it. */
  filter?: Filter;
  /** A SQL action such as `"SET size = 1"`, for the messages of the filter. */
  action?: string;
  /** Several filters instead of one. */
  rules?: { name: string; filter?: Filter; action?: string }[];
}

export interface Topic extends Settings, Sized {
  supportOrdering?: boolean;
  subscriptions?: (string | Subscription | ConfigEntity)[];
}

/** A SQL filter such as `"amount > 5"`, the values of a correlation filter, or whether all messages match. */
export type Filter =
  | string
  | boolean
  | {
      contentType?: string;
      correlationId?: string;
      messageId?: string;
      replyTo?: string;
      replyToSessionId?: string;
      sessionId?: string;
      subject?: string;
      to?: string;
      properties?: Record<string, unknown>;
    };

/** An entity in the form of Config.json. */
export interface ConfigEntity {
  Name: string;
  Properties?: Record<string, unknown>;
  Subscriptions?: ConfigEntity[];
  Rules?: { Name: string; Properties: Record<string, unknown> }[];
}

/** The text of a Config.json, parsed. */
export interface Config {
  UserConfig?: {
    Namespaces?: { Name?: string; Queues?: ConfigEntity[]; Topics?: ConfigEntity[]; [key: string]: unknown }[];
    [key: string]: unknown;
  };
  Queues?: ConfigEntity[];
  Topics?: ConfigEntity[];
}

/** Queues and topics: names, or objects with settings. */
export interface Entities {
  queues?: (string | Queue | ConfigEntity)[];
  topics?: (string | Topic | ConfigEntity)[];
}

export type Limits = "relaxed" | "standard" | "premium" | "emulator";

export interface StartOptions extends Entities {
  /** The path of a Config.json, of several, or what is in one. */
  config?: string | string[] | Config;
  /** Whose limits count: `"relaxed"` ones unless you say otherwise. */
  limits?: Limits;
  /** Files or directories of messages to send at the start. */
  seed?: string | string[];
  /** The path of a database. Without it everything is in memory. */
  data?: string;
  /** Further flags of `minibus`. */
  args?: string[];
  /** The path of a binary, instead of that of MINIBUS_PATH, of the package, or in the PATH. */
  binary?: string;
  /** Variables for the server. It does not get those of this process named `MINIBUS_...`. */
  env?: Record<string, string>;
}

export interface NamespaceOptions extends Entities {
  /** 6 to 50 letters, digits and hyphens. Without it Minibus chooses one. */
  name?: string;
  config?: string | Config;
  limits?: Limits;
}

/** What went wrong: the message says what, where, and what to do. */
export class MinibusError extends Error {
  constructor(detail: string, options?: { status?: number; errors?: string[]; cause?: unknown });
  /** The status of HTTP, if Minibus answered with an error. */
  readonly status?: number;
  /** The same as message. */
  readonly detail: string;
  /** All that is wrong, if that is more than one thing. */
  readonly errors: string[];
}

/** A namespace: entities, messages, keys and a clock. Name a subscription `"events/Subscriptions/large"`. */
export class Namespace {
  protected constructor();
  readonly name: string;
  /** For ServiceBusClient and ServiceBusAdministrationClient. */
  readonly connectionString: string;
  readonly explorerUrl: string;
  readonly clock: Clock;
  readonly faults: Faults;

  /** Creates entities, and makes existing ones what you declare. */
  put(entities: Entities): Promise<void>;
  /** Deletes an entity with its messages. */
  delete(entity: string): Promise<void>;
  counts(entity: string): Promise<Counts>;

  /** Sends one message, or up to 1,000 at once: all or none. Returns their sequence numbers. */
  send(entity: string, messages: Message | Message[]): Promise<number[]>;
  /** Browses messages without locking them. */
  messages(entity: string, filter?: MessageFilter): Promise<BrowsedMessage[]>;
  /** Browses the dead-letter queue of an entity. */
  deadLetters(entity: string, filter?: MessageFilter): Promise<BrowsedMessage[]>;
  /** Sends dead letters to their entity again. Returns how many. */
  resubmit(entity: string, filter?: JobFilter, edit?: Edit): Promise<number>;
  /** Removes active messages, or those of a filter. Returns how many. */
  purge(entity: string, filter?: JobFilter): Promise<number>;

  /** Saves everything under a name, in the place of an older snapshot of this name. */
  snapshot(name: string): Promise<void>;
  restore(name: string): Promise<void>;
  /** Removes all messages and later entities, all faults, and resets the clock. */
  reset(): Promise<void>;

  /** Resolves when all of it holds at one moment. Rejects after the timeout, by default 30 seconds, and says why. */
  waitFor(wanted: Wanted): Promise<Waited>;
  /** What happened to a message, from the first event to the last. */
  history(messageId: string): Promise<Event[]>;
  events(filter?: EventFilter): Promise<Event[]>;
  /** Why nothing is received from an entity, and what to do. */
  why(entity: string): Promise<Diagnosis>;
  /** Which subscriptions of a topic a message would reach. */
  match(topic: string, message: Message): Promise<Matching>;
  /** What clients were refused. */
  refusals(): Promise<Refusal[]>;
  connections(): Promise<Connection[]>;
  /** Everything else: asks for a path below `/$minibus/v1/namespaces/{namespace}`. */
  request<T = any>(method: string, path: string, body?: unknown): Promise<T>;

  /** Deletes the namespace. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A running Minibus, seen through its default namespace. */
export class Minibus extends Namespace {
  /** Starts a server on a free port. It ends with stop(), at the latest with this process. */
  static start(options?: StartOptions): Promise<Minibus>;
  /**
   * Steers a server that runs: that of SERVICEBUS_CONNECTION_STRING, or of another connection string or URL. A string
   * that names another computer needs `UseDevelopmentEmulator=true`. Strings of Azure are refused.
   */
  static connect(connectionString?: string): Promise<Minibus>;
  /** The process of the server, if it was started here. */
  readonly pid?: number;
  /** What the server printed, if it was started here. */
  readonly log: string;
  /** Creates a namespace for a test or a worker. Its stop() deletes it. */
  namespace(options?: NamespaceOptions): Promise<Namespace>;
  /** Stops the server, if it was started here. */
  stop(): Promise<void>;
}

/** The clock of a namespace, which locks, schedules and times to live follow. Each method returns the time. */
export interface Clock {
  now(): Promise<Date>;
  /** Moves it forward. What falls due on the way has happened then. */
  advance(by: Duration): Promise<Date>;
  set(time: Time): Promise<Date>;
  freeze(): Promise<Date>;
  resume(): Promise<Date>;
}

export type FaultKind =
  | "throttle"
  | "refuse"
  | "detach"
  | "drop"
  | "close"
  | "loseLock"
  | "loseSession"
  | "delay"
  | "starve"
  | "failJournal"
  | "expireToken";

export type FaultOperation =
  "attachSender" | "attachReceiver" | "send" | "receive" | "settle" | "renew" | "manage" | "authenticate" | "now";

export interface FaultOptions {
  /** Which operations are hit. Each kind has usual ones. */
  operation?: FaultOperation | FaultOperation[];
  entity?: string;
  /** A connection by its id, container, address or library, or a link. */
  client?: string;
  /** An AMQP condition such as `"not-found"`. */
  condition?: string;
  /** How many operations are hit: all without it. */
  count?: number;
  /** How many operations go well first. */
  skip?: number;
  probability?: number;
  seed?: number;
  /** How long, by the clock of the namespace. */
  for?: Duration;
  /** With the kind delay: for how long, in real time. */
  delay?: Duration;
  /** The operation is carried out, and only its answer is lost. */
  after?: boolean;
}

/** Injects one kind of fault, for an entity or for all. */
export interface InjectFault {
  (entity?: string, options?: FaultOptions): Promise<Fault>;
  (options: FaultOptions): Promise<Fault>;
}

export interface Faults extends Record<FaultKind, InjectFault> {
  inject(fault: FaultOptions & { kind: FaultKind }): Promise<Fault>;
  list(): Promise<Fault[]>;
  /** Removes all faults. */
  remove(): Promise<void>;
}

/** A fault that was injected. */
export interface Fault {
  readonly id: number;
  readonly kind: FaultKind;
  /** What it was when you got it: spent, it has hit count times; over, its time has ended. */
  readonly state: "active" | "spent" | "over" | "removed";
  readonly operations?: FaultOperation[];
  readonly entity?: string;
  readonly until?: Date;
  readonly [order: string]: unknown;
  /** How many operations it has hit. */
  hits(): Promise<number>;
  remove(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Counts {
  /** With the locked and the deferred ones. */
  active: number;
  deadLetter: number;
  deferred: number;
  scheduled: number;
  transfer: number;
  transferDeadLetter: number;
  sizeBytes: number;
}

/** A message in the form of docs/message-json.md. */
export interface Message {
  /** A text. Another value is sent as JSON, and bytes as they are. */
  body?: unknown;
  messageId?: unknown;
  correlationId?: unknown;
  sessionId?: string;
  partitionKey?: string;
  subject?: string;
  contentType?: string;
  contentEncoding?: string;
  to?: string;
  replyTo?: string;
  replyToSessionId?: string;
  timeToLive?: Duration;
  scheduledEnqueueTime?: Time;
  /** Values that JSON has no type for are Dates, bigints, bytes, or typed values such as `{ int: 5 }`. */
  applicationProperties?: Record<string, unknown>;
  bodyBase64?: string;
  bodySections?: string[];
  bodyValue?: unknown;
  bodySequence?: unknown[][];
  annotations?: Record<string, unknown>;
  userId?: unknown;
  creationTime?: Time;
  absoluteExpiryTime?: Time;
  groupSequence?: number;
  priority?: number;
  durable?: boolean;
  firstAcquirer?: boolean;
  deliveryAnnotations?: Record<string, unknown>;
  footer?: Record<string, unknown>;
}

/** A message of an entity. */
export interface BrowsedMessage extends Message {
  /** Of a partitioned entity it may be a bigint. */
  sequenceNumber: number;
  enqueuedSequenceNumber?: number;
  deliveryCount?: number;
  state: "active" | "locked" | "deferred" | "scheduled";
  timeToLive?: string;
  enqueuedTime: Date;
  scheduledEnqueueTime?: Date;
  lockedUntil?: Date;
  expiresAt?: Date;
  creationTime?: Date;
  absoluteExpiryTime?: Date;
  lockedBy?: string;
  deadLetterReason?: string;
  deadLetterSource?: string;
  sizeBytes?: number;
  bodyBytes?: number;
  /** The body is longer than 256 KiB, and only its beginning is here. */
  bodyCut?: boolean;
}

export interface MessageFilter {
  state?: BrowsedMessage["state"] | BrowsedMessage["state"][];
  /** A SQL filter, as rules have them. */
  sql?: string;
  /** In the body, a property or its name. */
  text?: string;
  /** The reason of a dead letter. */
  reason?: string;
  sessionId?: string;
  enqueuedAfter?: Time;
  enqueuedBefore?: Time;
  dueAfter?: Time;
  dueBefore?: Time;
  /** The first sequence number. */
  from?: number;
  order?: "oldest" | "newest";
  /** At most so many: all without it. */
  limit?: number;
}

export interface JobFilter {
  /** Active ones without it. */
  states?: ("active" | "deferred" | "scheduled")[];
  sql?: string;
  text?: string;
  reason?: string;
  sessionId?: string;
  before?: Time;
  sequenceNumbers?: number[];
  /** At most so many: all without it. */
  max?: number;
}

export interface Edit {
  body?: string;
  bodyBase64?: string;
  contentType?: string;
  correlationId?: string;
  messageId?: string;
  properties?: Record<string, unknown>;
  removeProperties?: string[];
  replyTo?: string;
  scheduledEnqueueTime?: Time;
  sessionId?: string;
  subject?: string;
  to?: string;
  strip?: boolean;
}

type Counted = "active" | "deferred" | "scheduled" | "deadLetter" | "transfer" | "transferDeadLetter";

export interface Wanted {
  /** Of idle and counts. */
  entity?: string;
  /** No message is available, locked, or waits to be forwarded. */
  idle?: boolean;
  /** How many messages: `{ active: 0, deadLetter: { least: 1 } }`. */
  counts?: { [of in Counted]?: number | { least?: number; most?: number } };
  /** A message that is there, or comes. */
  message?: { entity: string; filter?: Omit<JobFilter, "sequenceNumbers" | "max"> };
  /** What happens from now on, or from the number of an event. */
  events?: {
    kinds?: string[];
    times?: number;
    entity?: string;
    messageId?: string;
    sequenceNumber?: number;
    client?: string;
    from?: number;
  };
  timeout?: Duration;
}

export interface Waited {
  met: true;
  text: string;
  counts?: Counts;
  events: number;
  /** The number of the next event, to go on from. */
  next: number;
  sequenceNumber?: number;
}

export interface EventFilter {
  entity?: string;
  messageId?: string;
  sequenceNumber?: number;
  client?: string;
  kind?: string | string[];
  since?: Time;
  before?: Time;
  order?: "oldest" | "newest";
  /** At most so many: all that Minibus remembers without it. */
  limit?: number;
}

export interface Event {
  number: number;
  time: Date;
  /** Such as sent, delivered, lockExpired, deadLettered, completed. */
  kind: string;
  entity: string;
  subQueue?: string;
  /** The same as a sentence. */
  text: string;
  detail?: string;
  messageId?: string;
  sequenceNumber?: number;
  enqueuedSequenceNumber?: number;
  newSequenceNumber?: number;
  deliveryCount: number;
  copies?: number;
  lockedUntil?: Date;
  scheduledFor?: Date;
  client?: Client;
}

export interface Client {
  remote: string;
  connection?: string;
  container?: string;
  link?: string;
  product?: string;
}

export interface Diagnosis {
  /** All findings, with what to do. */
  text: string;
  entity: string;
  /** Whether nothing can be received. */
  blocked: boolean;
  available: number;
  receivers: number;
  findings: { code: string; blocks: boolean; text: string; fix?: string }[];
}

export interface Matching {
  topic: string;
  /** The subscriptions that would get it. */
  reached: string[];
  refused?: string;
  duplicate: boolean;
  subscriptions: {
    name: string;
    path?: string;
    status: string;
    rules: {
      name: string;
      filter: string;
      outcome: "true" | "false" | "unknown" | "error";
      error?: string;
      reasons: { text: string; [key: string]: unknown }[];
    }[];
    copies: {
      rule?: string;
      changes: { property: string; before?: unknown; after?: unknown; removed?: boolean }[];
      forwards: string[];
      [key: string]: unknown;
    }[];
  }[];
  [key: string]: unknown;
}

export interface Refusal {
  time: Date;
  operation: "attach" | "put-token";
  entity?: string;
  condition: string;
  text: string;
  client: Client;
}

export interface Connection {
  id: string;
  remote: string;
  since: Date;
  transport: string;
  container?: string;
  product?: string;
  version?: string;
  links: {
    id: number;
    address: string;
    role: "receiver" | "sender";
    credit: number;
    unsettled: number;
    waitsFor: string;
    [key: string]: unknown;
  }[];
  [key: string]: unknown;
}
