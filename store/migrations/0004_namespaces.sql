-- A database holds several namespaces. The id of a row, a body or an entity says to which it belongs, as the column ns does for people:
-- namespace n has those from (n-1)<<40 + 1 to n<<40 - 1. So what is in a namespace lies together. AUTOINCREMENT keeps the id of a deleted
-- one from being used again.

CREATE TABLE namespace (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  name     TEXT    NOT NULL, -- that of the default one, 1, is a setting of the process and not kept here
  created  INTEGER NOT NULL,
  secret   BLOB    NOT NULL, -- 16 random bytes, from which message ids are made
  next_row INTEGER NOT NULL, -- lower ids may have been used
  deleted  INTEGER NOT NULL, -- 1: what is in it is being removed in the background
  options  TEXT              -- JSON
);

INSERT INTO namespace
SELECT 1, '', 1000 * unixepoch((SELECT value FROM meta WHERE key = 'created')),
       coalesce((SELECT value FROM meta WHERE key = 'secret'), randomblob(16)),
       (SELECT value FROM meta WHERE key = 'next_row'), 0, NULL;
DROP TABLE meta;

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
FROM message m JOIN entity e ON e.id = m.entity JOIN namespace n ON n.id = e.ns
WHERE e.deleted = 0 AND n.deleted = 0 AND m.state < 8;

DROP VIEW entities;
CREATE VIEW entities AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       e.path,
       CASE e.kind WHEN 1 THEN 'queue' WHEN 2 THEN 'topic' ELSE 'subscription' END AS kind,
       count(m.row) AS messages,
       count(*) FILTER (WHERE m.sub > 0) AS dead_lettered,
       e.options,
       e.id
FROM entity e JOIN namespace n ON n.id = e.ns LEFT JOIN message m ON m.entity = e.id AND m.state < 8
WHERE e.deleted = 0 AND n.deleted = 0
GROUP BY e.id;

DROP VIEW sessions;
CREATE VIEW sessions AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       e.path AS entity,
       s.id AS session,
       length(s.state) AS bytes,
       datetime(s.updated / 1000.0, 'unixepoch', 'subsec') AS updated,
       s.state
FROM session s JOIN entity e ON e.id = s.entity JOIN namespace n ON n.id = e.ns
WHERE e.deleted = 0 AND n.deleted = 0;

DROP VIEW duplicate_detection;
CREATE VIEW duplicate_detection AS
SELECT iif(n.id = 1, '(default)', n.name) AS namespace,
       e.path AS entity,
       sum(length(h.keys) / 16) AS remembered,
       datetime(min(h.at) / 1000.0, 'unixepoch', 'subsec') AS since
FROM history h JOIN entity e ON e.id = h.entity JOIN namespace n ON n.id = e.ns
WHERE e.deleted = 0 AND n.deleted = 0 AND h.at >= e.history_from
GROUP BY e.id;
