// Preact with HTM: elements as tagged templates. A text in a template is always inserted as text.

import { h, render, Fragment } from "/studio/vendor/preact.js";
import htm from "/studio/vendor/htm.js";

export const html = htm.bind(h);
export { render, Fragment };
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState }
  from "/studio/vendor/hooks.js";
