/* A chunk alone: a link to one of its steps opens that. */
import { root } from "./clm.js";
import * as place from "./place.js";

if (root) place.start();
