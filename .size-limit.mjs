// SPDX-License-Identifier: MIT OR Apache-2.0
// The download size of each entry. An entry counts without the files that it loads later; each of them has a separate line.

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

const rest = /^\.\/clearway-rest\.js$/;
const ring = /^\.\/clearway-channel-ring\.js$/;
const records = /^\.\/clearway-records\.js$/;
const arrow = /^(apache-arrow|\.\/clearway-arrow\.js)$/;

/** `ignore` names what is left out; sizes are of the minified code, in bytes of gzip. */
const sizes = [
  {
    name: "clearway (browser, minified, gzip)",
    path: browser("index"),
    limit: "18.1 KB",
    ignore: [rest, records],
  },
  {
    name: "clearway, the rest (loaded while the first worker starts)",
    path: browser("clearway-rest"),
    limit: "20.8 KB",
    ignore: [/^\.\/clearway-core\.js$/, records],
  },
  { name: "clearway, all that a page loads", path: browser("index"), limit: "39.7 KB", ignore: [records] },
  { name: "clearway/worker (browser, minified, gzip)", path: browser("worker"), limit: "24.3 KB", ignore: [records] },
  {
    name: "clearway/transfer (browser, minified, gzip)",
    path: browser("transfer"),
    limit: "6.5 KB",
    ignore: [records],
  },
  {
    name: "clearway/callback (browser, minified, gzip)",
    path: browser("callback"),
    limit: "7.8 KB",
    ignore: [records],
  },
  { name: "clearway/meter (browser, minified, gzip)", path: browser("meter"), limit: "11.2 KB" },
  { name: "clearway/meter/metrics (browser, minified, gzip)", path: browser("meter-metrics"), limit: "5.4 KB" },
  { name: "clearway/meter/trace (browser, minified, gzip)", path: browser("meter-trace"), limit: "1.3 KB" },
  {
    name: "clearway/records (browser, minified, gzip)",
    path: browser("clearway-records"),
    limit: "12.8 KB",
    ignore: [arrow],
  },
  {
    name: "clearway/channel (browser, minified, gzip)",
    path: browser("channel"),
    limit: "41.6 KB",
    ignore: [ring],
  },
  {
    name: "clearway/channel, shared ring (loaded when a port is to have one)",
    path: browser("clearway-channel-ring"),
    limit: "5.6 KB",
  },
  {
    name: "clearway/channel, an app that has codecs only",
    path: browser("channel"),
    limit: "10.8 KB",
    import:
      "{ standardMessageCodec, standardMethodCodec, jsonMessageCodec, jsonMethodCodec, stringCodec, binaryCodec }",
  },
  { name: "clearway/channel/stdio (Node, minified, gzip)", path: node("stdio"), limit: "4.5 KB", ignore: [/^node:/] },
  { name: "clearway/channel/websocket (browser, minified, gzip)", path: browser("websocket"), limit: "4.4 KB" },
  {
    name: "clearway/channel/window (browser, minified, gzip)",
    path: browser("window"),
    limit: "7.1 KB",
    ignore: [ring],
  },
  {
    name: "clearway/channel/shared-worker (browser, minified, gzip)",
    path: browser("shared-worker"),
    limit: "5.9 KB",
    ignore: [ring],
  },
  {
    name: "clearway/channel/service-worker (browser, minified, gzip)",
    path: browser("service-worker"),
    limit: "6.5 KB",
    ignore: [ring],
  },
  { name: "clearway/channel/extension (browser, minified, gzip)", path: browser("extension"), limit: "3.2 KB" },
  {
    name: "clearway/channel/websocket-server (Node, minified, gzip)",
    path: node("websocket-server"),
    limit: "6.9 KB",
    ignore: [/^node:/, /^ws$/],
  },
  { name: "clearway/remote (browser, minified, gzip)", path: browser("remote"), limit: "13.7 KB" },
  {
    name: "clearway/offload (browser, minified, gzip)",
    path: browser("offload"),
    limit: "2.6 KB",
    ignore: [/^\.\/index\.js$/],
  },
  {
    name: "clearway/offload/worker (browser, minified, gzip)",
    path: browser("offload-worker"),
    limit: "23.7 KB",
    ignore: [records],
  },
  {
    name: "clearway/records/arrow, without apache-arrow",
    path: browser("records-arrow"),
    limit: "1 KB",
    ignore: [arrow],
  },
  {
    name: "clearway/records, conversions to and from Arrow (loaded when called)",
    path: browser("clearway-arrow"),
    limit: "5.1 KB",
    ignore: [records, arrow],
  },
];

export default sizes.map(({ ignore = [], ...size }) => ({
  import: "*",
  ...size,
  gzip: true,
  modifyEsbuildConfig: leaveOut(...ignore),
}));
