-- The ids of the rows of a namespace are those of a number. At first that is the id of the namespace; a restore gives it the number of the copy that it
-- made. The rows of a snapshot have a number of their own, too. In this table each number has a row, which keeps it from being used again: that
-- of the namespace, or one with an owner. A number with an owner that is neither its owner's nor in snapshot is an unfinished copy.

ALTER TABLE namespace ADD COLUMN owner INTEGER;  -- namespace.id; NULL: it is a namespace
ALTER TABLE namespace ADD COLUMN number INTEGER; -- of the rows of the namespace; NULL: its id

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

DROP VIEW messages;
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
FROM message m JOIN entity e ON e.id = m.entity JOIN namespace n ON coalesce(n.number, n.id) = e.ns
WHERE e.deleted = 0 AND n.deleted = 0 AND n.owner IS NULL AND m.state < 8;

DROP VIEW entities;
CREATE VIEW entities AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       e.path,
       CASE e.kind WHEN 1 THEN 'queue' WHEN 2 THEN 'topic' ELSE 'subscription' END AS kind,
       count(m.row) AS messages,
       count(*) FILTER (WHERE m.sub > 0) AS dead_lettered,
       e.options,
       e.id
FROM entity e JOIN namespace n ON coalesce(n.number, n.id) = e.ns LEFT JOIN message m ON m.entity = e.id AND m.state < 8
WHERE e.deleted = 0 AND n.deleted = 0 AND n.owner IS NULL
GROUP BY e.id;

DROP VIEW sessions;
CREATE VIEW sessions AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       e.path AS entity,
       s.id AS session,
       length(s.state) AS bytes,
       datetime(s.updated / 1000.0, 'unixepoch', 'subsec') AS updated,
       s.state
FROM session s JOIN entity e ON e.id = s.entity JOIN namespace n ON coalesce(n.number, n.id) = e.ns
WHERE e.deleted = 0 AND n.deleted = 0 AND n.owner IS NULL;

DROP VIEW duplicate_detection;
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
