"use strict";
// In the studio's frame: the page around it gives the drawing, and holds the clock of the world.
document.getElementById("drawing").textContent = parent.graphDrawing;
document.documentElement.classList.add("framed");
addEventListener("DOMContentLoaded", () => {
  document.querySelector("footer").hidden = true;
  document.querySelector(".heading").hidden = true;
  const hold = (at) => {
    world.fixed = at;
    redraw();
  };
  addEventListener("message", (event) => {
    if (event.source === parent && event.origin === location.origin) hold(event.data.world);
  });
  hold(parent.graphWorld);
});
