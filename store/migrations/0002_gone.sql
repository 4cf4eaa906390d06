-- A message that is completed by itself is only marked in its row, with state 8, and removed later together with others (store/gone.go):
-- that writes one page where removing it at once writes three or more. For people it is gone.

DROP VIEW messages;
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
WHERE e.deleted = 0 AND m.state < 8;

DROP VIEW entities;
CREATE VIEW entities AS
SELECT e.path,
       CASE e.kind WHEN 1 THEN 'queue' WHEN 2 THEN 'topic' ELSE 'subscription' END AS kind,
       count(m.row) AS messages,
       count(*) FILTER (WHERE m.sub > 0) AS dead_lettered,
       e.options,
       e.id
FROM entity e LEFT JOIN message m ON m.entity = e.id AND m.state < 8
WHERE e.deleted = 0
GROUP BY e.id;
