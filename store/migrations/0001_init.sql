-- The first schema. Times are milliseconds since the Unix epoch; the views below show them as text.
-- ns is the namespace key (DEC-11): one namespace per process today, hence always 1.

CREATE TABLE meta (
  ns    INTEGER NOT NULL,
  key   TEXT    NOT NULL, -- secret, next_row, created
  value         NOT NULL,
  PRIMARY KEY (ns, key)
) WITHOUT ROWID;

-- Queues, topics and subscriptions. deleted = 1 marks an entity whose messages are being removed in the background; its id is never
-- used again.
CREATE TABLE entity (
  id           INTEGER PRIMARY KEY,
  ns           INTEGER NOT NULL,
  kind         INTEGER NOT NULL, -- 1 queue, 2 topic, 3 subscription
  path         TEXT    NOT NULL,
  deleted      INTEGER NOT NULL,
  history_from INTEGER NOT NULL, -- what history has from before is forgotten, and removed in the background
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

-- The state of each message. Narrow, so that a million of them load in a moment.
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

-- Encoded messages as their senders sent them. Large ones (parts > 0) have their bytes in body_part.
CREATE TABLE body (
  id    INTEGER PRIMARY KEY,
  ns    INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  data  BLOB
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

-- For people: sqlite3 -box minibus.db 'SELECT * FROM messages'
CREATE VIEW messages AS
SELECT e.path AS entity,
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
FROM message m JOIN entity e ON e.id = m.entity
WHERE e.deleted = 0;

CREATE VIEW entities AS
SELECT e.path,
       CASE e.kind WHEN 1 THEN 'queue' WHEN 2 THEN 'topic' ELSE 'subscription' END AS kind,
       count(m.row) AS messages,
       count(*) FILTER (WHERE m.sub > 0) AS dead_lettered,
       e.options,
       e.id
FROM entity e LEFT JOIN message m ON m.entity = e.id
WHERE e.deleted = 0
GROUP BY e.id;

CREATE VIEW sessions AS
SELECT e.path AS entity,
       s.id AS session,
       length(s.state) AS bytes,
       datetime(s.updated / 1000.0, 'unixepoch', 'subsec') AS updated,
       s.state
FROM session s JOIN entity e ON e.id = s.entity
WHERE e.deleted = 0;

CREATE VIEW duplicate_detection AS
SELECT e.path AS entity,
       sum(length(h.keys) / 16) AS remembered,
       datetime(min(h.at) / 1000.0, 'unixepoch', 'subsec') AS since
FROM history h JOIN entity e ON e.id = h.entity
WHERE e.deleted = 0 AND h.at >= e.history_from
GROUP BY e.id;

INSERT INTO meta (ns, key, value) VALUES (1, 'next_row', 1), (1, 'created', datetime('now'));
