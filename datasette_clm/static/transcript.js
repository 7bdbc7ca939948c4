/* The transcript with scripts on. */
import { root } from "./clm.js";
import * as copying from "./copy.js";
import * as finding from "./find.js";
import * as keys from "./keys.js";
import * as later from "./later.js";
import * as place from "./place.js";

if (root) {
  later.start();
  place.start();
  copying.start();
  keys.start();
  finding.start();
}
