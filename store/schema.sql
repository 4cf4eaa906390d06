-- The schema of a new database. Times are milliseconds since the Unix epoch; the views below show them as text.
--
-- A database holds several namespaces. The id of a row, a body or an entity says to which number it belongs, as the
-- column ns does for people: number n has the ids from (n-1)<<40 + 1 to n<<40 - 1. So what a namespace has lies
-- together in each table. Its number is its id at first; a restore gives it the number of the copy that it made. A
-- snapshot has a number of its own.

-- Namespaces, and the numbers that they own: those of snapshots, of restored copies, and of copies that are being made.
-- A number with an owner that is neither its owner's nor in snapshot is an unfinished copy, which a start removes.
-- AUTOINCREMENT keeps a number from being used again.
CREATE TABLE namespace (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  name     TEXT    NOT NULL, -- that of the default one, 1, is a setting of the process and not kept here
  created  INTEGER NOT NULL,
  secret   BLOB    NOT NULL, -- 16 random bytes, from which message ids are made
  next_row INTEGER NOT NULL, -- lower ids may have been used
  deleted  INTEGER NOT NULL, -- 1: what is in it is being removed in the background
  options  TEXT,             -- JSON
  owner    INTEGER,          -- namespace.id; NULL: it is a namespace
  number   INTEGER           -- of the rows of the namespace; NULL: its id
);

CREATE TABLE snapshot (
  number    INTEGER PRIMARY KEY, -- of its rows
  namespace INTEGER NOT NULL,    -- namespace.id
  name      TEXT    NOT NULL,
  saved     INTEGER NOT NULL,    -- by the machine's clock
  now       INTEGER NOT NULL,    -- by the clock of the namespace
  frozen    INTEGER NOT NULL,    -- 1: that clock stood still
  entities  INTEGER NOT NULL,
  messages  INTEGER NOT NULL,
  bytes     INTEGER NOT NULL     -- of its messages
);

-- Queues, topics and subscriptions. deleted = 1 marks an entity whose messages are being removed in the background; its
-- id is never used again.
CREATE TABLE entity (
  id           INTEGER PRIMARY KEY,
  ns           INTEGER NOT NULL,
  kind         INTEGER NOT NULL, -- 1 queue, 2 topic, 3 subscription
  path         TEXT    NOT NULL,
  deleted      INTEGER NOT NULL,
  history_from INTEGER NOT NULL, -- what history has from before is being removed in the background
  options      TEXT              -- JSON
);

-- The last sequence number that each partition of an entity drew; an entity without partitions has partition 0 only.
-- It never follows from the rows left.
CREATE TABLE counter (
  entity    INTEGER NOT NULL, -- entity.id
  partition INTEGER NOT NULL,
  ns        INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  PRIMARY KEY (entity, partition)
) WITHOUT ROWID;

-- The state of each message. Narrow, so that a million of them load in a moment. State 8 is a tombstone: a message
-- that was completed by itself, and is removed later together with others, which writes a third (store/tombstones.go).
CREATE TABLE message (
  row            INTEGER PRIMARY KEY,
  ns             INTEGER NOT NULL,
  entity         INTEGER NOT NULL, -- entity.id
  sub            INTEGER NOT NULL, -- 0 the queue, 1 dead-letter queue, 2 transfer dead-letter queue
  seq            INTEGER NOT NULL, -- sequence number
  state          INTEGER NOT NULL, -- 0 active, 1 deferred, 2 scheduled
  delivery_count INTEGER NOT NULL,
  body           INTEGER NOT NULL, -- body.id; copies of a message share one body
  enqueued       INTEGER NOT NULL,
  ttl            INTEGER NOT NULL, -- milliseconds; 0 never expires
  scheduled      INTEGER NOT NULL, -- due time; 0 not scheduled
  size           INTEGER NOT NULL,
  enqueued_seq   INTEGER NOT NULL, -- number at first submission; 0 on messages sent directly
  hops           INTEGER NOT NULL, -- transfers from entity to entity so far
  session        TEXT,             -- NULL without session id
  message_id     TEXT,
  reason         TEXT,             -- dead-letter reason
  source         TEXT,             -- entity from whose dead-letter queue it was forwarded
  overlay        BLOB,             -- AMQP map of the application properties that the broker changed
  system         BLOB              -- AMQP map of the broker properties that a rule changed
);

-- Copies of one message that a topic makes for several subscriptions share a row as long as nothing happens to them:
-- one for each cost two thirds of the processor time of a fan-out. A copy that changes gets a row in message, and keeps
-- the number of its row.
CREATE TABLE publication (
  row          INTEGER PRIMARY KEY, -- of the first copy; copy i, counted from 0, has row+i
  ns           INTEGER NOT NULL,
  there        INTEGER NOT NULL, -- bit i is set if copy i is here; 0: a tombstone
  body         INTEGER NOT NULL, -- body.id; from here on as in message
  enqueued     INTEGER NOT NULL,
  ttl          INTEGER NOT NULL,
  size         INTEGER NOT NULL,
  enqueued_seq INTEGER NOT NULL,
  hops         INTEGER NOT NULL,
  session      TEXT,
  message_id   TEXT,
  copies       TEXT    NOT NULL  -- JSON, for each the lower 40 bits of entity.id and the number: [[7,1],[8,1]]
);

-- Encoded messages as their senders sent them. Large ones (parts > 0) have their bytes in body_part.
CREATE TABLE body (
  id    INTEGER PRIMARY KEY,
  ns    INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  data  BLOB,
  crc   INTEGER NOT NULL -- CRC-32C of the encoded message, all parts together
);

CREATE TABLE body_part (
  id   INTEGER PRIMARY KEY,
  ns   INTEGER NOT NULL,
  body INTEGER NOT NULL,
  part INTEGER NOT NULL,
  data BLOB    NOT NULL,
  UNIQUE (body, part)
);

-- What applications keep with a session; there is no row for a session without state.
CREATE TABLE session (
  row     INTEGER PRIMARY KEY,
  ns      INTEGER NOT NULL,
  entity  INTEGER NOT NULL, -- entity.id
  id      TEXT    NOT NULL,
  updated INTEGER NOT NULL,
  state   BLOB    NOT NULL,
  UNIQUE (entity, id)
);

-- The message ids that duplicate detection remembers, as digests of 16 bytes. All that one commit remembers for the
-- same entity and millisecond share a row, up to 64 of them. A row for each was measured to cost a third of an insert.
CREATE TABLE history (
  entity INTEGER NOT NULL, -- entity.id
  at     INTEGER NOT NULL,
  keys   BLOB    NOT NULL,
  ns     INTEGER NOT NULL,
  PRIMARY KEY (entity, at, keys)
) WITHOUT ROWID;

INSERT INTO namespace VALUES (1, '', 1000 * unixepoch(), randomblob(16), 1, 0, NULL, NULL, NULL);

-- The rows of message, with one for each copy that is in publication.
CREATE VIEW message_or_copy AS
SELECT row, ns, entity, sub, seq, state, delivery_count, body, enqueued, ttl, scheduled, size, enqueued_seq, hops, session,
       message_id, reason, source, overlay, system
FROM message
WHERE state < 8
UNION ALL
SELECT p.row + c.key, p.ns, ((p.ns-1)<<40) + json_extract(c.value, '$[0]'), 0, json_extract(c.value, '$[1]'), 0, 0,
       p.body, p.enqueued, p.ttl, 0, p.size, p.enqueued_seq, p.hops, p.session, p.message_id, NULL, NULL, NULL, NULL
FROM publication p, json_each(p.copies) c
WHERE (p.there>>c.key) & 1;

-- For people: sqlite3 -box minibus.db 'SELECT * FROM messages'
CREATE VIEW messages AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       e.path AS entity,
       CASE m.sub WHEN 0 THEN '' WHEN 1 THEN '$deadletterqueue' ELSE '$Transfer/$deadletterqueue' END AS sub_queue,
       m.seq,
       CASE m.state WHEN 0 THEN 'active' WHEN 1 THEN 'deferred' ELSE 'scheduled' END AS state,
       m.delivery_count,
       datetime(m.enqueued / 1000.0, 'unixepoch', 'subsec') AS enqueued,
       CASE WHEN m.ttl > 0 THEN datetime((m.enqueued + m.ttl) / 1000.0, 'unixepoch', 'subsec') END AS expires,
       CASE WHEN m.scheduled > 0 THEN datetime(m.scheduled / 1000.0, 'unixepoch', 'subsec') END AS scheduled,
       m.session,
       m.message_id,
       m.reason,
       m.source,
       m.size,
       m.row,
       m.body
FROM message_or_copy m JOIN entity e ON e.id = m.entity JOIN namespace n ON coalesce(n.number, n.id) = e.ns
WHERE e.deleted = 0 AND n.deleted = 0 AND n.owner IS NULL;

CREATE VIEW entities AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       e.path,
       CASE e.kind WHEN 1 THEN 'queue' WHEN 2 THEN 'topic' ELSE 'subscription' END AS kind,
       count(m.row) AS messages,
       count(*) FILTER (WHERE m.sub > 0) AS dead_lettered,
       e.options,
       e.id
FROM entity e JOIN namespace n ON coalesce(n.number, n.id) = e.ns LEFT JOIN message_or_copy m ON m.entity = e.id
WHERE e.deleted = 0 AND n.deleted = 0 AND n.owner IS NULL
GROUP BY e.id;

CREATE VIEW sessions AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       e.path AS entity,
       s.id AS session,
       length(s.state) AS bytes,
       datetime(s.updated / 1000.0, 'unixepoch', 'subsec') AS updated,
       s.state
FROM session s JOIN entity e ON e.id = s.entity JOIN namespace n ON coalesce(n.number, n.id) = e.ns
WHERE e.deleted = 0 AND n.deleted = 0 AND n.owner IS NULL;

CREATE VIEW duplicate_detection AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       e.path AS entity,
       sum(length(h.keys) / 16) AS remembered,
       datetime(min(h.at) / 1000.0, 'unixepoch', 'subsec') AS since
FROM history h JOIN entity e ON e.id = h.entity JOIN namespace n ON coalesce(n.number, n.id) = e.ns
WHERE e.deleted = 0 AND n.deleted = 0 AND n.owner IS NULL AND h.at >= e.history_from
GROUP BY e.id;

CREATE VIEW snapshots AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       s.name,
       datetime(s.saved / 1000.0, 'unixepoch', 'subsec') AS saved,
       s.entities,
       s.messages,
       s.bytes,
       s.number
FROM snapshot s JOIN namespace n ON n.id = s.namespace;
