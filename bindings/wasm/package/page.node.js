// For Node, where the module is a file beside this one: everything can be called at once.
import { readFileSync } from "node:fs";
import * as glue from "./workbench/obverse.js";
import { paging } from "./api.js";

glue.initSync({ module: readFileSync(new URL("./workbench/obverse_bg.wasm", import.meta.url)) });

export const init = async () => {};

export const { open, template, replay } = paging(glue);
