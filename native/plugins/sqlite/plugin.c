// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a SQLite database. A query's rows reach the app as one chunk of records, in memory that is not copied again. All messages run on one
// serial queue, so the connection needs no lock.

#include <ctype.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clearway.h"

// The rows of a query, collected by column, and written as one chunk of records (spec/records.md).

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

#define ALIGNMENT 64

static outcome add(bytes *to, const void *data, size_t size) {
  if (size > TABLE_BYTES_MAX || to->size + size > TABLE_BYTES_MAX) return TOO_LARGE;
  if (to->size + size > to->room) {
    size_t room = to->room == 0 ? 256 : to->room * 2;
    while (room < to->size + size) room *= 2;
    uint8_t *grown = realloc(to->data, room);
    if (grown == NULL) return NO_MEMORY;
    to->data = grown;
    to->room = room;
  }
  if (size > 0) memcpy(to->data + to->size, data, size);
  to->size += size;
  return DONE;
}

// Returns a column's kind by its declared type, as SQLite's affinities do. A column that is an expression has no declared type, so the type
// of its first value counts.
static kind kind_of(sqlite3_stmt *statement, int at) {
  const char *declared = sqlite3_column_decltype(statement, at);
  if (declared == NULL) {
    const int type = sqlite3_data_count(statement) == 0 ? SQLITE_NULL : sqlite3_column_type(statement, at);
    return type == SQLITE_INTEGER ? KIND_I64 : type == SQLITE_FLOAT ? KIND_F64 : KIND_TEXT;
  }
  if (sqlite3_strlike("%INT%", declared, 0) == 0) return KIND_I64;
  const int real = sqlite3_strlike("%REAL%", declared, 0) == 0 || sqlite3_strlike("%FLOA%", declared, 0) == 0 ||
                   sqlite3_strlike("%DOUB%", declared, 0) == 0;
  return real ? KIND_F64 : KIND_TEXT;
}

// Makes a table for the statement's columns. The statement stands at its first row, or at its end.
static outcome table_open(row_table *table, sqlite3_stmt *statement) {
  const int count = sqlite3_column_count(statement);
  *table = (row_table){.columns = calloc((size_t)count + 1, sizeof(column)), .columns_count = (uint32_t)count};
  if (table->columns == NULL) return NO_MEMORY;
  for (int at = 0; at < count; at++) {
    column *to = &table->columns[at];
    to->name = sqlite3_column_name(statement, at);
    if (to->name == NULL) return NO_MEMORY;
    to->kind = kind_of(statement, at);
    const int32_t zero = 0;
    if (to->kind == KIND_TEXT && add(&to->offsets, &zero, sizeof zero) != DONE) return NO_MEMORY;
  }
  return DONE;
}

static outcome add_value(column *to, sqlite3_stmt *statement, int at, int is_null) {
  if (to->kind == KIND_I64) {
    const int64_t value = sqlite3_column_int64(statement, at);
    return add(&to->values, &value, sizeof value);
  }
  if (to->kind == KIND_F64) {
    const double value = sqlite3_column_double(statement, at);
    return add(&to->values, &value, sizeof value);
  }
  const unsigned char *text = sqlite3_column_text(statement, at); // null for null, and after a failed conversion
  if (text == NULL && !is_null)
    return sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM ? NO_MEMORY : TOO_LARGE;
  const outcome added = add(&to->values, text, text == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, at));
  const int32_t end = (int32_t)to->values.size;
  return added == DONE ? add(&to->offsets, &end, sizeof end) : added;
}

// Adds the statement's row.
static outcome table_add(row_table *table, sqlite3_stmt *statement) {
  const uint32_t row = table->rows;
  table->bytes = 0;
  for (uint32_t at = 0; at < table->columns_count; at++) {
    column *to = &table->columns[at];
    const uint32_t is_null = sqlite3_column_type(statement, (int)at) == SQLITE_NULL;
    const uint8_t none = 0;
    if (row % 8 == 0) {
      const outcome added = add(&to->validity, &none, 1);
      if (added != DONE) return added;
    }
    if (!is_null) to->validity.data[row / 8] |= (uint8_t)(1 << row % 8);
    to->nulls += is_null;
    const outcome added = add_value(to, statement, (int)at, (int)is_null);
    if (added != DONE) return added;
    table->bytes += to->validity.size + to->values.size + to->offsets.size;
    if (table->bytes > TABLE_BYTES_MAX) return TOO_LARGE;
  }
  table->rows++;
  return DONE;
}

static void table_free(row_table *table) {
  for (uint32_t at = 0; table->columns != NULL && at < table->columns_count; at++) {
    free(table->columns[at].validity.data);
    free(table->columns[at].values.data);
    free(table->columns[at].offsets.data);
  }
  free(table->columns);
}

// Passes each buffer of the chunk to `visit`, in Arrow's order, with its place in the chunk. Returns the end of the last one.
static size_t each_buffer(const row_table *table, void (*visit)(uint8_t *, uint32_t, size_t, const bytes *), uint8_t *to) {
  static const bytes none = {0};
  uint32_t buffers = 0;
  for (uint32_t at = 0; at < table->columns_count; at++) buffers += table->columns[at].kind == KIND_TEXT ? 3 : 2;
  size_t end = 16 + 8 * (size_t)buffers;
  uint32_t number = 0;
  for (uint32_t at = 0; at < table->columns_count; at++) {
    const column *from = &table->columns[at];
    const bytes *parts[] = {from->nulls > 0 ? &from->validity : &none,
                            from->kind == KIND_TEXT ? &from->offsets : &from->values, &from->values};
    for (int part = 0; part < (from->kind == KIND_TEXT ? 3 : 2); part++) {
      const size_t start = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      if (visit != NULL) visit(to, number, start, parts[part]);
      number++;
      end = start + parts[part]->size;
    }
  }
  if (to != NULL) {
    const uint32_t head[] = {table->rows, number, 0};
    memcpy(to, "CWR1", 4);
    memcpy(to + 4, head, sizeof head);
  }
  return end;
}

static void copy(uint8_t *to, uint32_t number, size_t start, const bytes *from) {
  const uint32_t place[] = {(uint32_t)start, (uint32_t)from->size};
  memcpy(to + 16 + 8 * (size_t)number, place, sizeof place);
  if (from->size > 0) memcpy(to + start, from->data, from->size);
}

// Returns the size of the chunk.
static size_t table_chunk_size(const row_table *table) { return each_buffer(table, NULL, NULL); }

// Writes the chunk. `to` has table_chunk_size() bytes, all of them 0.
static void table_write_chunk(const row_table *table, uint8_t *to) { each_buffer(table, copy, to); }

static outcome add_text(bytes *to, const char *text) { return add(to, text, strlen(text)); }

static outcome add_name(bytes *to, const char *name) {
  outcome added = DONE;
  for (; *name != '\0' && added == DONE; name++) {
    char escaped[8] = {*name};
    if (*name == '"' || *name == '\\') snprintf(escaped, sizeof escaped, "\\%c", *name);
    if ((unsigned char)*name < 0x20) snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned char)*name);
    added = add_text(to, escaped);
  }
  return added;
}

// Adds the columns to `to`, as JSON: the `columns` of a table's message.
static outcome table_write_columns(const row_table *table, bytes *to) {
  static const char *const kinds[] = {
      "\"kind\":\"i64\"}", "\"kind\":\"f64\"}", "\"kind\":\"text\",\"dictionary\":false}"};
  outcome added = add_text(to, "[");
  for (uint32_t at = 0; at < table->columns_count && added == DONE; at++) {
    added = add_text(to, at == 0 ? "{\"name\":\"" : ",{\"name\":\"");
    if (added == DONE) added = add_name(to, table->columns[at].name);
    if (added == DONE) added = add_text(to, "\",\"nullable\":true,");
    if (added == DONE) added = add_text(to, kinds[table->columns[at].kind]);
  }
  return added == DONE ? add_text(to, "]") : added;
}

// The state of one opening of the plugin. Another opening may have another host.
typedef struct reader {
  const clearway_host *host;
  clearway_plugin_id id;
  sqlite3 *database; // null before the first `open`
} reader;

static clearway_status refuse(const reader *self, clearway_reply reply, clearway_status status, const char *text) {
  return self->host->reply_error(reply, status, (clearway_text){.data = text, .size = strlen(text)});
}

// Opens the database file that the message names, and closes an earlier one. The connection can only read.
static clearway_status open_database(void *context, const clearway_content *message, clearway_reply reply) {
  reader *self = context;
  char path[4096];
  if (message->size == 0 || message->size >= sizeof path || memchr(message->data, '\0', message->size) != NULL)
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the message must be a path of 1 to 4095 bytes");
  memcpy(path, message->data, message->size);
  path[message->size] = '\0';
  sqlite3 *opened = NULL;
  if (sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
    const clearway_status status = refuse(self, reply, CLEARWAY_FAILED, sqlite3_errmsg(opened));
    sqlite3_close(opened);
    return status;
  }
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, (int)TABLE_BYTES_MAX);
  sqlite3_close(self->database);
  self->database = opened;
  return self->host->reply(reply, NULL);
}

// A query that runs.
typedef struct running {
  const clearway_host *host;
  clearway_reply reply;
} running;

// SQLite calls this while a query runs. A result other than 0 ends the query.
static int is_unwanted(void *context) {
  const running *self = context;
  return self->host->wanted(self->reply) != CLEARWAY_OK;
}

// Answers with the columns as JSON, and with the chunk as an attached memory.
static clearway_status answer(const reader *self, clearway_reply reply, const row_table *rows) {
  bytes columns = {0};
  clearway_view chunk;
  clearway_status status = CLEARWAY_OUT_OF_MEMORY;
  if (table_write_columns(rows, &columns) == DONE)
    status = self->host->allocate(self->id, table_chunk_size(rows), CLEARWAY_MEMORY_ZEROED, &chunk);
  if (status == CLEARWAY_OK) {
    table_write_chunk(rows, chunk.data);
    const clearway_content content = {
        .data = columns.data, .size = columns.size, .attachments = &chunk.memory, .attachments_count = 1};
    status = self->host->reply(reply, &content);
    self->host->release(chunk.memory); // the answer has a reference of its own
  }
  free(columns.data);
  return status;
}

// Returns whether only white space is left.
static int is_blank(const char *from, const char *end) {
  while (from < end && isspace((unsigned char)*from)) from++;
  return from == end;
}

static clearway_status read_rows(const reader *self, clearway_reply reply, sqlite3_stmt *statement) {
  if (statement == NULL || sqlite3_column_count(statement) == 0 || !sqlite3_stmt_readonly(statement))
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the statement must read rows");
  row_table rows = {0};
  int step = sqlite3_step(statement);
  outcome collected = table_open(&rows, statement);
  for (; step == SQLITE_ROW && collected == DONE; step = sqlite3_step(statement))
    collected = table_add(&rows, statement);
  clearway_status status;
  if (collected == TOO_LARGE) status = refuse(self, reply, CLEARWAY_TOO_LARGE, "the rows have more than 256 MiB");
  else if (collected == NO_MEMORY) status = CLEARWAY_OUT_OF_MEMORY;
  else if (step == SQLITE_INTERRUPT) status = CLEARWAY_CANCELLED;
  else if (step != SQLITE_DONE) status = refuse(self, reply, CLEARWAY_FAILED, sqlite3_errmsg(self->database));
  else status = answer(self, reply, &rows);
  table_free(&rows);
  return status;
}

// Runs the query in the message, which is one statement of SQL.
static clearway_status query(void *context, const clearway_content *message, clearway_reply reply) {
  reader *self = context;
  if (self->database == NULL) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "open a database first");
  if (message->size == 0 || message->size > 1 << 20)
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the message must be a statement of 1 byte to 1 MiB");
  running wanted = {.host = self->host, .reply = reply};
  sqlite3_progress_handler(self->database, 10000, is_unwanted, &wanted);
  sqlite3_stmt *statement = NULL;
  const char *sql = (const char *)message->data, *rest = NULL;
  clearway_status status;
  if (sqlite3_prepare_v2(self->database, sql, (int)message->size, &statement, &rest) != SQLITE_OK)
    status = refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, sqlite3_errmsg(self->database));
  else if (!is_blank(rest, sql + message->size))
    status = refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the message must be one statement");
  else status = read_rows(self, reply, statement);
  sqlite3_finalize(statement);
  sqlite3_progress_handler(self->database, 0, NULL, NULL);
  return status;
}

static void closed(void *context) {
  reader *self = context;
  sqlite3_close(self->database);
  free(self);
}

clearway_status clearway_plugin_init(const clearway_host *table, clearway_plugin *plugin) {
  plugin->abi_major = CLEARWAY_ABI_MAJOR;
  plugin->abi_minor = CLEARWAY_ABI_MINOR;
  if (table->abi_major != CLEARWAY_ABI_MAJOR) return CLEARWAY_VERSION;
  reader *self = calloc(1, sizeof *self);
  if (self == NULL) return CLEARWAY_OUT_OF_MEMORY;
  self->host = table;
  self->id = plugin->id;
  const struct {
    clearway_text channel;
    clearway_on_message on_message;
  } rows[] = {{CLEARWAY_TEXT("open"), open_database}, {CLEARWAY_TEXT("query"), query}};
  for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
    const clearway_handler handler = {.size = sizeof handler,
                                      .channel = rows[at].channel,
                                      .runs = CLEARWAY_RUN_SERIAL,
                                      .queue = CLEARWAY_TEXT("sqlite"),
                                      .context = self,
                                      .on_message = rows[at].on_message};
    const clearway_status status = self->host->handle(plugin->id, &handler);
    if (status != CLEARWAY_OK) {
      free(self);
      return status;
    }
  }
  plugin->context = self;
  plugin->on_close = closed;
  return CLEARWAY_OK;
}
