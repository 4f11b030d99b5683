/** @ts-ignore: an optional peer */
import * as apache_arrow from 'apache-arrow';
import { C as CrossesAs, c as crossesAs } from './types-crossing.js';

/** Kinds of column whose values form a typed array. */
declare const numberKinds: readonly ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"];
type NumberKind = (typeof numberKinds)[number];
/** The kinds of a list's items. */
type ItemKind = NumberKind | "bool" | "text";
/** Units of a timestamp. Timestamps count from 1970-01-01T00:00Z. */
declare const units: readonly ["s", "ms", "us", "ns"];
/** Unit of a timestamp: seconds, milliseconds, microseconds or nanoseconds. */
type TimeUnit = (typeof units)[number];
/** A column as data. A table's message contains shapes, and other languages read them. */
type Shape = {
    readonly name: string;
    readonly nullable: boolean;
} & KindShape;
type KindShape = {
    readonly kind: NumberKind | "bool" | "bytes" | "date";
} | {
    readonly kind: "text";
    readonly dictionary: boolean;
} | {
    readonly kind: "timestamp";
    readonly unit: TimeUnit;
} | {
    readonly kind: "list";
    readonly of: ItemKind;
} | {
    readonly kind: "struct";
    readonly columns: readonly Shape[];
};

/**
 * The part of a column that is in one chunk, as raw memory. Use parts for loops without a call per row.
 *
 * The arrays are views of the table's memory and stay valid as long as the table. A null row contains 0 or an empty value, so use `isNull`
 * to detect it.
 */
interface Part {
    readonly length: number;
    /** Returns whether a row is null. `row` counts from the part's first row. */
    isNull(row: number): boolean;
}
/** Row `i` is `values[i]`. */
interface NumberPart<Values> extends Part {
    readonly values: Values;
}
/** Row `i` is bit `bitOffset + i` of `bits`. The least significant bit of a byte comes first. */
interface BitPart extends Part {
    readonly bits: Uint8Array;
    readonly bitOffset: number;
}
/** Row `i` is the range of `data` from `offsets[i]` to before `offsets[i + 1]`. */
interface BytesPart extends Part {
    readonly offsets: Int32Array;
    readonly data: Uint8Array;
}
/** Row `i` is `dictionary[codes[i]]`. The first use of `dictionary` decodes all texts. */
interface CodePart extends Part {
    readonly codes: Int32Array;
    readonly dictionary: readonly string[];
}
/** A sequence of texts in UTF-8. Text `i` is the range of `data` from `offsets[i]` to before `offsets[i + 1]`. */
interface Texts {
    readonly offsets: Int32Array;
    readonly data: Uint8Array;
}
/** Row `i` is the range of `values` from `offsets[i]` to before `offsets[i + 1]`. Booleans are bits, and texts are {@link Texts}. */
interface ListPart<Values> extends Part {
    readonly offsets: Int32Array;
    readonly values: Values;
}
/** The TypeScript types of a column: a read value, a written value, the whole column as one array, and the part in one chunk. */
interface FieldTypes {
    read: unknown;
    write: unknown;
    flat: unknown;
    part: Part;
}
declare const fieldTypes: unique symbol;
/** The declared type of a column: `u32`, `text()`, `nullable(bool)` and so on. */
interface Field<Types extends FieldTypes = FieldTypes> {
    /** Exists only for the compiler. */
    readonly [fieldTypes]: Types;
}
/** Columns by name. */
type Fields = Readonly<Record<string, Field>>;
type Simple<Read, Flat, P extends Part, Write = Read> = Field<{
    read: Read;
    write: Write;
    flat: Flat;
    part: P;
}>;
type Numbers<Values> = Simple<number, Values, NumberPart<Values>>;
type BigInts<Values> = Simple<bigint, Values, NumberPart<Values>>;
/** Whole numbers from -128 to 127. The writer rejects a value that is outside this range or has a fraction. Values never wrap. */
declare const i8: Numbers<Int8Array<ArrayBufferLike>>;
/** Signed whole numbers of 16 bits. */
declare const i16: Numbers<Int16Array<ArrayBufferLike>>;
/** Signed whole numbers of 32 bits. */
declare const i32: Numbers<Int32Array<ArrayBufferLike>>;
/** Signed whole numbers of 64 bits, as `bigint`. */
declare const i64: BigInts<BigInt64Array<ArrayBufferLike>>;
/** Whole numbers from 0 to 255. */
declare const u8: Numbers<Uint8Array<ArrayBufferLike>>;
/** Unsigned whole numbers of 16 bits. */
declare const u16: Numbers<Uint16Array<ArrayBufferLike>>;
/** Unsigned whole numbers of 32 bits. */
declare const u32: Numbers<Uint32Array<ArrayBufferLike>>;
/** Unsigned whole numbers of 64 bits, as `bigint`. */
declare const u64: BigInts<BigUint64Array<ArrayBufferLike>>;
/** Single-precision numbers. A written value is rounded to the nearest single-precision number. */
declare const f32: Numbers<Float32Array<ArrayBufferLike>>;
/** Double-precision numbers, like JavaScript's own numbers. */
declare const f64: Numbers<Float64Array<ArrayBufferLike>>;
/** Booleans, stored in one bit each. */
declare const bool: Simple<boolean, boolean[], BitPart>;
/** Bytes. A read does not copy: it returns a view of the table's memory, which is valid as long as the table. */
declare const bytes: Simple<Uint8Array, Uint8Array[], BytesPart>;
/**
 * Text, stored as UTF-8. Lone surrogates become U+FFFD.
 *
 * With `dictionary`, each chunk stores every distinct text once, and each row stores the number of its text. Each text is then decoded
 * once per chunk. Use a dictionary for columns with few distinct values.
 */
declare function text(options: {
    dictionary: true;
}): Simple<string, string[], CodePart>;
declare function text(options?: {
    dictionary?: false;
}): Simple<string, string[], BytesPart>;
/**
 * A moment, as the number of units since 1970 in UTC. `unit` defaults to `"ms"`.
 *
 * Reads return a number of units, or a `bigint` for `ns`. A number of `us` is exact until the year 2255. Writes take the same type, or a
 * `Date` that is a whole number of units.
 */
declare function timestamp(options: {
    unit: "ns";
}): Simple<bigint, BigInt64Array, NumberPart<BigInt64Array>, bigint | Date>;
declare function timestamp(options?: {
    unit?: "s" | "ms" | "us";
}): Simple<number, number[], NumberPart<BigInt64Array>, number | Date>;
/**
 * A calendar day without a time or time zone, as the number of days since 1970-01-01. Arrow's Date32 is the same type.
 *
 * Writes take that number, or a `Date` at midnight in UTC, such as `new Date(days * 86_400_000)`.
 */
declare const date: Simple<number, Int32Array, NumberPart<Int32Array>, number | Date>;
/** Makes a column nullable. Reads may then return `null`, and writes also take `null` and `undefined`. */
declare function nullable<T extends FieldTypes>(of: Field<T>): Field<{
    read: T["read"] | null;
    write: T["write"] | null | undefined;
    flat: (T["read"] | null)[];
    part: T["part"];
}>;
/**
 * A list in each row, of numbers, booleans, or texts without a dictionary.
 *
 * For numbers, a read returns a typed array that is a view of the table's memory. For booleans and texts, each read returns a new array.
 */
declare function list<T extends {
    read: number | bigint | boolean | string;
    write: unknown;
    flat: unknown;
    part: NumberPart<unknown> | BitPart | BytesPart;
}>(of: Field<T>): Simple<T["flat"], T["flat"][], ListPart<T["part"] extends BitPart ? Uint8Array : T["part"] extends BytesPart ? Texts : T["flat"]>, ArrayLike<T["write"]>>;
/** A column that contains other columns. */
declare function struct<F extends Fields>(fields: F): Simple<RowOf<F>, RowOf<F>[], Part, WriteOf<F>>;
/** The type of a row that a reader gets. */
type RowOf<F extends Fields> = {
    readonly [Name in keyof F]: ReadOf<F[Name]>;
};
/** The type of a row that a writer takes. Nullable columns may be omitted. */
type WriteOf<F extends Fields> = {
    readonly [Name in keyof F as undefined extends TypesOf<F[Name]>["write"] ? never : Name]: TypesOf<F[Name]>["write"];
} & {
    readonly [Name in keyof F as undefined extends TypesOf<F[Name]>["write"] ? Name : never]?: TypesOf<F[Name]>["write"];
};
/** The type of a column's values for readers. */
type ReadOf<F> = TypesOf<F>["read"];
type TypesOf<F> = F extends Field<infer Types> ? Types : never;

/**
 * The name of a property of all objects that read a table's memory. Structured clone reads this property first, and rejects its value, a
 * symbol. The error names the property. Without it, structured clone would drop the getters and copy whole chunks.
 */
declare const cannotBeSent = "rows and columns cannot be sent: send the table, or what toObjects() makes";

/** One column of one chunk, for reading by row. Row numbers count from the chunk's first row. */
interface Vector {
    readonly validity: Bitmap | undefined;
    /** Returns the value of a non-null row. `row` must be inside the chunk. Throws if the memory is gone or malformed. */
    get(row: number): unknown;
    /** Returns consecutive rows as raw memory. */
    part(start: number, rows: number): Part;
}
/** The base class of all vectors. Structured clone rejects any object that contains a vector, before it copies memory. */
declare class Unsendable {
    readonly [cannotBeSent]: symbol;
}
/** A sequence of bits, least significant bit of a byte first. */
declare class Bitmap {
    readonly bytes: Uint8Array;
    constructor(bytes: Uint8Array);
    get(at: number): boolean;
}

declare const vectorsKey = "clearway:row";
declare const rowKey: unique symbol;
/** A row without getters for its columns: the chunk's vectors and the position in the chunk. */
interface RowView {
    [vectorsKey]: readonly Vector[];
    [rowKey]: number;
}
type RowClass = new (vectors: readonly Vector[], row: number) => RowView;

/** One block of a table's memory. A table and its slices share chunks. */
declare class Chunk {
    #private;
    readonly data: ArrayBuffer;
    readonly rows: number;
    /**
     * Takes ownership of the buffer. Copies nothing and reads only the header. Throws `protocol` or `released`.
     *
     * The constructor does not open the columns. When it did, a table of 1526 chunks blocked its receiver for 79 ms (cold, on a busy
     * machine).
     */
    constructor(data: ArrayBuffer, shapes: readonly Shape[], buffers?: number);
    /**
     * The columns. The first access opens them, in O(columns).
     *
     * Throws `protocol` if the chunk does not hold these columns, and `released` if its memory was moved away or released.
     */
    get vectors(): readonly Vector[];
    /** Frees the chunk's memory. All views of that memory are then empty. See {@link detach}. */
    release(): void;
}
/** A table as plain data, for messages. Structured clone, `postMessage` and IndexedDB accept it. */
interface TableMessage {
    readonly version: 1;
    readonly columns: readonly Shape[];
    readonly chunks: readonly {
        readonly data: ArrayBuffer;
        readonly start: number;
        readonly rows: number;
    }[];
}
/** A range of consecutive rows of one chunk. */
interface Segment {
    readonly chunk: Chunk;
    readonly start: number;
    readonly rows: number;
}
/** The segments of a table, in order. Finds the position of a row in them. */
declare class Segments {
    #private;
    readonly list: readonly Segment[];
    readonly length: number;
    constructor(list: readonly Segment[]);
    /** Returns a row's position, or undefined if there is no such row. Negative rows count from the end. Allocates the result. */
    find(row: number): {
        chunk: Chunk;
        row: number;
    } | undefined;
    /** Returns the segments for the rows from `from` up to `to`. Both must be within the table. Copies no rows. */
    slice(from: number, to: number): Segments;
}
/**
 * A cursor over the rows of one chunk.
 *
 * The caller moves the cursor by the chunk's own row numbers. The cursor never continues into another chunk. If a loop's cursor could do
 * so, even rarely, the engine would keep the loop's sum in memory in every step, not in a register
 * (spec/decisions/a-row-is-a-view-with-getters.md).
 */
declare class ChunkCursor<R> {
    /** The row number in the table of this cursor's row 0. */
    readonly first: number;
    /** The number of rows. */
    readonly length: number;
    private readonly start;
    private readonly row;
    /** Throws `released` or `protocol`, like the first read of a chunk. */
    constructor({ chunk, start, rows }: Segment, first: number, MovingRow: RowClass);
    /**
     * Moves to a row from 0 to `length - 1`, and returns it.
     *
     * Returns the same object each time and allocates nothing. If `row` is outside that range or not a whole number, reading a column of the
     * row throws. A struct column throws only if one of the struct's own columns is read.
     */
    at(row: number): R;
}

/** A table of the optional package `apache-arrow`. The type is `any` if that package is not installed. */
/** @ts-ignore: an optional peer */
type ArrowTable = apache_arrow.Table;
/** The rows to convert into objects. */
interface ObjectWindow {
    /** The first row. Default: 0. */
    from?: number;
    /** The end of the window: the row after the last one. Default: the table's length. */
    to?: number;
    /** The maximum number of objects. A larger window throws. Default: 10,000. */
    rowsMax?: number;
}
/**
 * Rows that are stored by column, in chunks. A table is immutable.
 *
 * A table is sent to another thread without decoding: as a task's result, as a value of a stream, or as an argument. `move(table)` moves an
 * argument. Without `move`, an argument is copied. After a move the sender has none of the memory, and its reads throw `released`.
 */
declare class Table<R extends RecordType = RecordType> implements Iterable<Row<R>>, CrossesAs<Table<R>> {
    #private;
    readonly [crossesAs]: Table<R>;
    /** The table as a message. The constructor makes this an own property, because structured clone reads only own properties. */
    readonly "clearway:records": TableMessage;
    /** Writers and transports create tables. See {@link RecordType}. */
    constructor(schema: R, segments: Segments);
    /** The number of rows, even after the memory is gone. */
    get length(): number;
    get schema(): R;
    /** The number of bytes of the table's chunks, or 0 after they are gone. A slice counts each of its chunks as a whole. */
    get byteLength(): number;
    /**
     * Returns a row, or `undefined` if there is no such row. Negative rows count from the end, as in `Array.at`.
     *
     * Each call returns a new object. Reading a property of the row reads the table's memory.
     */
    at(row: number): Row<R> | undefined;
    /**
     * Returns a cursor for each chunk. Cursors are the fastest way to read row by row.
     *
     * The caller moves each cursor by row number in an inner loop. Row numbers count from the cursor's first row. Allocates each cursor when
     * the outer loop reaches its chunk.
     */
    cursors(): IterableIterator<ChunkCursor<Row<R>>, undefined>;
    /** Iterates over the rows. Each row is a separate object that stays valid as long as the table. */
    [Symbol.iterator](): IterableIterator<Row<R>, undefined>;
    /** Returns a column. Throws `invalid-argument` if the table has no column with that name. Copies nothing. */
    column<Name extends keyof FieldsOf<R> & string>(name: Name): Column<FieldsOf<R>[Name]>;
    /**
     * Returns the rows from `from` up to `to`, counted as in `Array.slice`.
     *
     * Copies nothing. The slice shares its chunks with this table. Moving or releasing one of the two takes the shared memory from both.
     */
    slice(from?: number, to?: number): Table<R>;
    /**
     * Returns plain objects for a window of rows.
     *
     * Throws `invalid-argument` for more than `rowsMax` rows (10,000), because a million objects would block the thread for several frames.
     * Bytes and lists in the objects stay views of the table's memory.
     */
    toObjects(window?: ObjectWindow): RowOf<FieldsOf<R>>[];
    /**
     * Frees memory now, without waiting for garbage collection. Frees all chunks, or only those whose rows all come before the row `before`.
     *
     * Afterwards every row and slice of that memory throws `released`, and every array that views it is empty.
     */
    release(options?: {
        before?: number;
    }): void;
    /**
     * Returns the table as a table of the package `apache-arrow`. Copies nothing: its vectors are views of this table's memory.
     *
     * Throws `missing-package` if the package is not installed.
     */
    toArrow(): Promise<ArrowTable>;
    /** Returns the table as plain data with its buffers, for your own transport. Copies nothing. Throws `released`. */
    toMessage(): TableMessage;
}
/** One column of a table. A column stores no values but reads the table's memory. Reads throw `released` if that memory is gone. */
declare class Column<F extends Field = Field> extends Unsendable {
    #private;
    readonly name: string;
    readonly length: number;
    constructor(segments: Segments, shape: Shape, at: number);
    /**
     * The column's memory, with one part per chunk. Parts are the fastest way to read a column.
     *
     * Copies nothing. The arrays in the parts are views that stay valid as long as the table. Do not post or move them.
     */
    get chunks(): TypesOf<F>["part"][];
    /** Returns a row's value, or `undefined` if there is no such row. Negative rows count from the end, as in `Array.at`. */
    get(row: number): TypesOf<F>["read"] | undefined;
    /** Copies the whole column. Returns a typed array for numbers that are not nullable, otherwise an ordinary array of values. */
    toArray(): TypesOf<F>["flat"];
    /** Iterates over the values in row order. */
    [Symbol.iterator](): IterableIterator<TypesOf<F>["read"]>;
}

/** Options of a table's writer. */
interface WriterOptions {
    /** The number of rows per chunk. Default: 65,536 for the first million rows of a table, and 2^20 (about a million) after that. */
    rowsPerChunk?: number;
}
/** Size limits of chunks, in bytes. @internal */
interface ChunkLimits {
    /** The writer closes a chunk that is larger than this. */
    readonly closedBytes: number;
    /** The writer computes the chunk's size again when texts, bytes and lists have added this much. */
    readonly growthBytes: number;
    /** The maximum size of one column. */
    readonly dataBytes: number;
    /**
     * The maximum size of all columns together: the range of the directory's 32-bit offsets, minus room for the directory and the
     * padding.
     */
    readonly blockBytes: number;
}
/**
 * Collects rows and makes a table of them. A task may return or yield the writer itself. The caller then gets the {@link Table}.
 *
 * Copies each row's values into columns. When a chunk is full, copies its columns once more, into a block of the exact size.
 */
declare class TableWriter<R extends RecordType = RecordType> implements CrossesAs<Table<R>> {
    #private;
    readonly [crossesAs]: Table<R>;
    /** The table as a message. The constructor makes this an own property, because structured clone reads only own properties. */
    readonly "clearway:records": TableMessage;
    /** Applications use {@link RecordType.table} instead. */
    constructor(schema: R, options?: WriterOptions, limits?: ChunkLimits);
    /** The number of rows that were added. */
    get length(): number;
    /**
     * Adds a row. Ignores properties that are not columns.
     *
     * Throws `invalid-argument` for a row that does not fit. The error's message names the column, the row and the value. The error also has
     * the properties `column` and `row`. The writer skips that row and stays usable.
     */
    push(row: WriteOf<FieldsOf<R>>): void;
    /** Adds all rows. Stops at the first row that does not fit and throws the error of `push`. Earlier rows stay in the table. */
    pushAll(rows: Iterable<WriteOf<FieldsOf<R>>>): void;
    /**
     * Returns the table of all rows so far. Each call returns the same table. Afterwards the writer takes no rows and has no scratch memory.
     *
     * Throws `invalid-argument` if a getter of a row calls this method during `push`.
     */
    finish(): Table<R>;
}

declare const fieldsOf: unique symbol;
/** The fields that a record was declared with. */
type FieldsOf<R> = R extends {
    readonly [fieldsOf]: infer F extends Fields;
} ? F : never;
/** The type of a row that a reader of a table gets. */
type Row<R> = RowOf<FieldsOf<R>>;
/** The type of a row that a writer takes. */
type NewRow<R> = WriteOf<FieldsOf<R>>;
/** The type of a table's rows. Two record types are equal if they have the same columns in the same order. */
declare class RecordType<F extends Fields = Fields> {
    #private;
    readonly [fieldsOf]: F;
    /** The columns, as data. */
    readonly shapes: readonly Shape[];
    /** @internal */
    readonly Row: RowClass;
    /** Applications use {@link record} instead. */
    constructor(shapes: readonly Shape[]);
    /** @internal */
    get MovingRow(): RowClass;
    /** Creates a writer for a table of such rows. Throws `invalid-argument`. */
    table(options?: WriterOptions): TableWriter<RecordType<F>>;
    /** Makes a table from these rows, on the calling thread. Throws the errors of `push`. */
    tableOf(rows: Iterable<WriteOf<F>>, options?: WriterOptions): Table<RecordType<F>>;
    /**
     * Returns the table in a received value. Use it for a value inside another object, or from another transport.
     *
     * Takes O(columns + chunks). Copies nothing and takes ownership of the buffers. Throws `protocol` if the value is not a table or has
     * other columns, and `released` if its memory was moved away. If a chunk's columns are malformed, the first read of that chunk throws.
     */
    from(value: unknown): Table<RecordType<F>>;
    /**
     * Makes a table from a table of the package `apache-arrow`. Both must have the same columns.
     *
     * Copies each buffer once, because a table owns its memory. Throws `missing-package`, and `protocol` for other columns.
     */
    fromArrow(arrow: ArrowTable): Promise<Table<RecordType<F>>>;
}
/**
 * Declares a record type: `record({ rollNum: u32, name: text({ dictionary: true }) })`.
 *
 * A second call with the same columns is cheap, because it reuses the row classes. Throws `invalid-argument`.
 */
declare function record<F extends Fields>(fields: F): RecordType<F>;
/** Returns the table in a received value, whatever its columns are. See {@link RecordType.from}. */
declare function tableFrom(value: unknown): Table;
/** Makes a table from an Arrow table, whatever its columns are. See {@link RecordType.fromArrow}. */
declare function tableFromArrow(arrow: ArrowTable): Promise<Table>;

/** Options of {@link inferRecord}. */
interface InferOptions {
    /** The number of rows, from the first row on, that determine the types. Default: 100. */
    sampleRows?: number;
}
/** The type that a reader gets for a value of type `T` in the original rows. */
type ReadAs<T> = T extends Date ? number : T extends readonly number[] ? Float64Array : T extends undefined ? null : T extends object ? T extends ArrayBufferView | readonly unknown[] ? T : {
    readonly [Name in keyof T]: ReadAs<T[Name]>;
} : T;
/** The columns that are inferred for rows of type `T`. */
type InferredFields<T> = {
    readonly [Name in keyof T & string]-?: [T[Name]] extends [number] ? typeof f64 : Field<{
        read: ReadAs<T[Name]>;
        write: T[Name];
        flat: ReadAs<T[Name]>[];
        part: T[Name] extends Date ? NumberPart<BigInt64Array> : Part;
    }>;
};
/**
 * Infers a record type from the first rows of some data. This function is a convenience for experiments.
 *
 * - `number` becomes `f64`, even for whole numbers, so that no later number is rejected.
 * - `bigint` becomes `i64`, and `Date` becomes `timestamp()` in ms.
 * - Arrays of numbers become `list(f64)`, and arrays of texts become `list(text())`.
 * - A column becomes `nullable` if a value in the sample is null or missing.
 * - Texts have no dictionary.
 *
 * Throws `invalid-argument` for values that fit no column type, and for columns that have only null in the sample.
 */
declare function inferRecord<T extends object>(rows: readonly T[], options?: InferOptions): RecordType<InferredFields<T>>;
/**
 * Makes a table from ordinary rows. Infers the columns with {@link inferRecord}.
 *
 * Throws `invalid-argument` for the first row that does not match the sample: a column has another type, or there is an additional column.
 * The error names the row and the column.
 */
declare function tableFromRows<T extends object>(rows: readonly T[], options?: InferOptions & WriterOptions): Table<RecordType<InferredFields<T>>>;

export { ChunkCursor, Column, CrossesAs, RecordType, Table, TableWriter, bool, bytes, crossesAs, date, f32, f64, i16, i32, i64, i8, inferRecord, list, nullable, record, struct, tableFrom, tableFromArrow, tableFromRows, text, timestamp, u16, u32, u64, u8 };
export type { BitPart, BytesPart, CodePart, Field, Fields, FieldsOf, InferOptions, InferredFields, ListPart, NewRow, NumberPart, ObjectWindow, Part, Row, Shape, TableMessage, Texts, TimeUnit, WriterOptions };
