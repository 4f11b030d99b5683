// SPDX-License-Identifier: MIT OR Apache-2.0
// The download size of each entry. An entry counts without its lazy modules; each of them has a separate line.

// esbuild writes what it leaves out by its path from the place of the bundle, which is a temporary folder: sizes would
// depend on where the project lies, by a few bytes that once failed a check. Left as written they are the same anywhere.
function leaveOut(...patterns) {
  return (config) => ({
    ...config,
    format: "esm", // else what is left out brings a stand-in for `require` along
    plugins: [
      {
        name: "left out as written",
        setup({ onResolve }) {
          onResolve({ filter: /./ }, ({ path }) =>
            patterns.some((pattern) => pattern.test(path)) ? { path, external: true } : undefined,
          );
        },
      },
    ],
  });
}

const browser = (name) => `ts/clearway/dist/browser/${name}.js`;
const node = (name) => `ts/clearway/dist/node/${name}.js`;

const lazyModules = /^\.\/lazy-/;
const records = /^\.\/(records|lazy-revival)\.js$/;
const arrow = /^(apache-arrow|\.\/lazy-load\.js)$/;

/** `ignore` names what is left out; sizes are of the minified code, in bytes of gzip. */
const sizes = [
  {
    name: "clearway (browser, minified, gzip)",
    path: browser("index"),
    limit: "16.3 KB",
    ignore: [lazyModules, records],
  },
  { name: "clearway, metrics (loaded with `metrics: true`)", path: browser("lazy-timings"), limit: "0.8 KB" },
  {
    name: "clearway, what looks after workers and reads streams (loaded while the first worker starts)",
    path: browser("lazy-lifecycle"),
    limit: "16.5 KB",
    ignore: [records, /^\.\/lazy-(open-ring|feed|watch)\.js$/],
  },
  { name: "clearway, streams into tasks (loaded when the task reads)", path: browser("lazy-feed"), limit: "6.5 KB" },
  { name: "clearway, warnings (loaded in development)", path: browser("lazy-watch"), limit: "2.6 KB" },
  { name: "clearway, map (loaded with the first mapping)", path: browser("lazy-mapping"), limit: "3 KB" },
  {
    name: "clearway, broadcast (loaded with the first broadcast)",
    path: browser("lazy-broadcast"),
    limit: "1.5 KB",
  },
  {
    name: "clearway, shared ring (loaded where there is shared memory)",
    path: browser("lazy-open-ring"),
    limit: "6 KB",
  },
  {
    name: "clearway/worker (browser, minified, gzip)",
    path: browser("worker"),
    limit: "14.4 KB",
    ignore: [lazyModules, records],
  },
  {
    name: "clearway/worker, streams (loaded where a task yields, or reads)",
    path: browser("lazy-streams"),
    limit: "3.8 KB",
    ignore: [records, lazyModules],
  },
  {
    name: "clearway/worker, callbacks (loaded with the first call that has one)",
    path: browser("lazy-callback-stub"),
    limit: "5.7 KB",
    ignore: [records, lazyModules],
  },
  {
    name: "clearway, what reads tables and instances of classes (loaded with the first of them)",
    path: browser("lazy-revival"),
    limit: "1.2 KB",
    ignore: [records],
  },
  {
    name: "clearway/transfer (browser, minified, gzip)",
    path: browser("transfer"),
    limit: "6 KB",
    ignore: [records],
  },
  {
    name: "clearway/callback (browser, minified, gzip)",
    path: browser("callback"),
    limit: "7.2 KB",
    ignore: [records],
  },
  { name: "clearway/worker, resources (loaded where a task has some)", path: browser("lazy-leases"), limit: "1.8 KB" },
  {
    name: "clearway/worker, its end of the ring (loaded behind the first call)",
    path: browser("lazy-worker-ring-port"),
    limit: "5.6 KB",
  },
  { name: "clearway/meter (browser, minified, gzip)", path: browser("meter"), limit: "10.5 KB" },
  { name: "clearway/meter/metrics (browser, minified, gzip)", path: browser("meter-metrics"), limit: "5.4 KB" },
  { name: "clearway/meter/trace (browser, minified, gzip)", path: browser("meter-trace"), limit: "1.6 KB" },
  {
    name: "clearway/records (browser, minified, gzip)",
    path: browser("records"),
    limit: "13.3 KB",
    ignore: [arrow, lazyModules],
  },
  {
    name: "clearway/channel (browser, minified, gzip)",
    path: browser("channel"),
    limit: "41 KB",
    ignore: [lazyModules],
  },
  {
    name: "clearway/channel, shared ring (loaded when a port is to have one)",
    path: browser("lazy-channel-ring-port"),
    limit: "6 KB",
  },
  {
    name: "clearway/channel, an app that has codecs only",
    path: browser("channel"),
    limit: "11.3 KB",
    import:
      "{ standardMessageCodec, standardMethodCodec, jsonMessageCodec, jsonMethodCodec, stringCodec, binaryCodec }",
  },
  { name: "clearway/channel/stdio (Node, minified, gzip)", path: node("stdio"), limit: "4.5 KB", ignore: [/^node:/] },
  { name: "clearway/channel/websocket (browser, minified, gzip)", path: browser("websocket"), limit: "4.1 KB" },
  {
    name: "clearway/channel/window (browser, minified, gzip)",
    path: browser("window"),
    limit: "6.9 KB",
    ignore: [lazyModules],
  },
  {
    name: "clearway/channel/shared-worker (browser, minified, gzip)",
    path: browser("shared-worker"),
    limit: "5.8 KB",
    ignore: [lazyModules],
  },
  {
    name: "clearway/channel/service-worker (browser, minified, gzip)",
    path: browser("service-worker"),
    limit: "6.3 KB",
    ignore: [lazyModules],
  },
  { name: "clearway/channel/extension (browser, minified, gzip)", path: browser("extension"), limit: "3.2 KB" },
  {
    name: "clearway/channel/websocket-server (Node, minified, gzip)",
    path: node("websocket-server"),
    limit: "6.6 KB",
    ignore: [/^node:/, /^ws$/],
  },
  { name: "clearway/remote (browser, minified, gzip)", path: browser("remote"), limit: "12.5 KB" },
  {
    name: "clearway/offload (browser, minified, gzip)",
    path: browser("offload"),
    limit: "2.5 KB",
    ignore: [/^\.\/index\.js$/],
  },
  {
    name: "clearway/offload/worker (browser, minified, gzip)",
    path: browser("offload-worker"),
    limit: "13.8 KB",
    ignore: [lazyModules, records],
  },
  {
    name: "clearway/records/arrow, without apache-arrow",
    path: browser("records-arrow"),
    limit: "1 KB",
    ignore: [arrow],
  },
  { name: "clearway/records, what finds apache-arrow", path: browser("lazy-load"), limit: "1 KB" },
  {
    name: "clearway/records, toArrow() (loaded when called)",
    path: browser("lazy-to-arrow"),
    limit: "1.4 KB",
    ignore: [records, arrow],
  },
  {
    name: "clearway/records, fromArrow() (loaded when called)",
    path: browser("lazy-from-arrow"),
    limit: "4.2 KB",
    ignore: [records, arrow],
  },
];

export default sizes.map(({ ignore = [], ...size }) => ({
  import: "*",
  ...size,
  gzip: true,
  modifyEsbuildConfig: leaveOut(...ignore),
}));
