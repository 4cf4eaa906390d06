-- CRC-32C of the encoded message, all parts together; NULL for bodies that were stored before there was one.
ALTER TABLE body ADD COLUMN crc INTEGER;
