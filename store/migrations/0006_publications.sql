-- Copies of one message that a topic makes for several subscriptions share a row as long as nothing happens to them: one for each cost two thirds of the
-- processor time of a fan-out. A copy that changes gets a row in message, and keeps the number of its row.

CREATE TABLE publication (
  row          INTEGER PRIMARY KEY, -- of the first copy; copy i, counted from 0, has row+i
  ns           INTEGER NOT NULL,
  there        INTEGER NOT NULL, -- bit i is set if copy i is here; 0: all are gone, and this row and the body are to be removed
  body         INTEGER NOT NULL, -- body.id; from here on as in message
  enqueued     INTEGER NOT NULL,
  ttl          INTEGER NOT NULL,
  size         INTEGER NOT NULL,
  enqueued_seq INTEGER NOT NULL,
  hops         INTEGER NOT NULL,
  session      TEXT,
  message_id   TEXT,
  copies       TEXT    NOT NULL  -- JSON, for each copy the lower 40 bits of entity.id and its sequence number: [[7,1],[8,1]]
);

-- The rows of message, with one for each copy that is in publication.
CREATE VIEW message_or_copy AS
SELECT row, ns, entity, sub, seq, state, delivery_count, body, enqueued, ttl, scheduled, size, enqueued_seq, hops, session, message_id, reason, source,
       overlay, system
FROM message
WHERE state < 8
UNION ALL
SELECT p.row + c.key, p.ns, ((p.ns-1)<<40) + json_extract(c.value, '$[0]'), 0, json_extract(c.value, '$[1]'), 0, 0, p.body, p.enqueued, p.ttl, 0, p.size,
       p.enqueued_seq, p.hops, p.session, p.message_id, NULL, NULL, NULL, NULL
FROM publication p, json_each(p.copies) c
WHERE (p.there>>c.key) & 1;

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
FROM message_or_copy m JOIN entity e ON e.id = m.entity JOIN namespace n ON coalesce(n.number, n.id) = e.ns
WHERE e.deleted = 0 AND n.deleted = 0 AND n.owner IS NULL;

DROP VIEW entities;
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
