// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a SQLite database. A query's rows reach the app as one chunk of records, in memory that is not copied again. All messages run on one
// serial queue, so the connection needs no lock.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "clearway.h"
#include "table.h"

static const clearway_host *host;

// The state of one opening of the plugin.
typedef struct reader {
  clearway_plugin_id id;
  sqlite3 *database; // null before the first `open`
} reader;

static clearway_status refuse(clearway_reply reply, clearway_status status, const char *text) {
  return host->reply_error(reply, status, (clearway_text){.data = text, .size = strlen(text)});
}

// Opens the database file that the message names, and closes an earlier one. The connection can only read.
static clearway_status open_database(void *context, const clearway_content *message, clearway_reply reply) {
  reader *self = context;
  char path[4096];
  if (message->size == 0 || message->size >= sizeof path || memchr(message->data, '\0', message->size) != NULL)
    return refuse(reply, CLEARWAY_INVALID_ARGUMENT, "the message must be a path of 1 to 4095 bytes");
  memcpy(path, message->data, message->size);
  path[message->size] = '\0';
  sqlite3 *opened = NULL;
  if (sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
    const clearway_status status = refuse(reply, CLEARWAY_FAILED, sqlite3_errmsg(opened));
    sqlite3_close(opened);
    return status;
  }
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, (int)TABLE_BYTES_MAX);
  sqlite3_close(self->database);
  self->database = opened;
  return host->reply(reply, NULL);
}

// SQLite calls this while a query runs. A result other than 0 ends the query.
static int is_unwanted(void *reply) { return host->wanted(*(clearway_reply *)reply) != CLEARWAY_OK; }

// Answers with the columns as JSON, and with the chunk as an attached memory.
static clearway_status answer(const reader *self, clearway_reply reply, const row_table *rows) {
  bytes columns = {0};
  clearway_view chunk;
  clearway_status status = CLEARWAY_OUT_OF_MEMORY;
  if (table_write_columns(rows, &columns) == DONE)
    status = host->allocate(self->id, table_chunk_size(rows), CLEARWAY_MEMORY_ZEROED, &chunk);
  if (status == CLEARWAY_OK) {
    table_write_chunk(rows, chunk.data);
    const clearway_content content = {
        .data = columns.data, .size = columns.size, .attachments = &chunk.memory, .attachments_count = 1};
    status = host->reply(reply, &content);
    host->release(chunk.memory); // the answer has a reference of its own
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
    return refuse(reply, CLEARWAY_INVALID_ARGUMENT, "the statement must read rows");
  row_table rows = {0};
  int step = sqlite3_step(statement);
  outcome collected = table_open(&rows, statement);
  for (; step == SQLITE_ROW && collected == DONE; step = sqlite3_step(statement))
    collected = table_add(&rows, statement);
  clearway_status status;
  if (collected == TOO_LARGE) status = refuse(reply, CLEARWAY_TOO_LARGE, "the rows have more than 256 MiB");
  else if (collected == NO_MEMORY) status = CLEARWAY_OUT_OF_MEMORY;
  else if (step == SQLITE_INTERRUPT) status = CLEARWAY_CANCELLED;
  else if (step != SQLITE_DONE) status = refuse(reply, CLEARWAY_FAILED, sqlite3_errmsg(self->database));
  else status = answer(self, reply, &rows);
  table_free(&rows);
  return status;
}

// Runs the query in the message, which is one statement of SQL.
static clearway_status query(void *context, const clearway_content *message, clearway_reply reply) {
  reader *self = context;
  if (self->database == NULL) return refuse(reply, CLEARWAY_INVALID_ARGUMENT, "open a database first");
  if (message->size == 0 || message->size > 1 << 20)
    return refuse(reply, CLEARWAY_INVALID_ARGUMENT, "the message must be a statement of 1 byte to 1 MiB");
  sqlite3_progress_handler(self->database, 10000, is_unwanted, &reply);
  sqlite3_stmt *statement = NULL;
  const char *sql = (const char *)message->data, *rest = NULL;
  clearway_status status;
  if (sqlite3_prepare_v2(self->database, sql, (int)message->size, &statement, &rest) != SQLITE_OK)
    status = refuse(reply, CLEARWAY_INVALID_ARGUMENT, sqlite3_errmsg(self->database));
  else if (!is_blank(rest, sql + message->size))
    status = refuse(reply, CLEARWAY_INVALID_ARGUMENT, "the message must be one statement");
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
  host = table;
  reader *self = calloc(1, sizeof *self);
  if (self == NULL) return CLEARWAY_OUT_OF_MEMORY;
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
    const clearway_status status = host->handle(plugin->id, &handler);
    if (status != CLEARWAY_OK) {
      free(self);
      return status;
    }
  }
  plugin->context = self;
  plugin->on_close = closed;
  return CLEARWAY_OK;
}
