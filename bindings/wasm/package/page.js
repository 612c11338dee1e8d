// For browsers and bundlers: `init` loads the module, and must have ended before anything else is called.
import load, * as glue from "./workbench/obverse.js";
import { paging } from "./api.js";

export const init = async (source) => {
  await load(source === undefined ? undefined : { module_or_path: source });
};

export const { open, template, replay } = paging(glue);
