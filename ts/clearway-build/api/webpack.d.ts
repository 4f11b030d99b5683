import { WebpackPluginInstance } from 'webpack';

/**
 * The plugin for webpack 5: `import clearway from "clearway-build/webpack"`. For bundles for browsers.
 *
 * @module clearway-build/webpack
 */

/**
 * Moves the functions in calls of `offload()` to task files. webpack builds them as entries of workers.
 *
 * The compilation has an error for a function that cannot move to a worker.
 */
declare function clearway(): WebpackPluginInstance;

export { clearway as default };
