import { part } from "./part.js";
part();
