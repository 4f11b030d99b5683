// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of a query, collected by column, and written as one chunk of records (spec/records.md).
#ifndef SQLITE_TABLE_H
#define SQLITE_TABLE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

// The most bytes of a table, and of one value. Offsets of texts have 32 bits, so the limit must stay below 2^31.
#define TABLE_BYTES_MAX ((size_t)256 << 20)

typedef struct bytes {
  uint8_t *data;
  size_t size, room;
} bytes;

typedef enum kind { KIND_I64, KIND_F64, KIND_TEXT } kind;

typedef struct column {
  const char *name; // SQLite's, valid as long as the statement
  kind kind;
  bytes validity, values, offsets;
  uint32_t nulls;
} column;

typedef struct row_table {
  column *columns;
  uint32_t columns_count, rows;
  size_t bytes; // of all columns
} row_table;

// The results of a function that collects or writes.
typedef enum outcome { DONE, NO_MEMORY, TOO_LARGE } outcome;

// Makes a table for the statement's columns. The statement stands at its first row, or at its end.
outcome table_open(row_table *table, sqlite3_stmt *statement);

// Adds the statement's row.
outcome table_add(row_table *table, sqlite3_stmt *statement);

void table_free(row_table *table);

// Returns the size of the chunk.
size_t table_chunk_size(const row_table *table);

// Writes the chunk. `to` has table_chunk_size() bytes, all of them 0.
void table_write_chunk(const row_table *table, uint8_t *to);

// Adds the columns to `to`, as JSON: the `columns` of a table's message.
outcome table_write_columns(const row_table *table, bytes *to);

#endif
