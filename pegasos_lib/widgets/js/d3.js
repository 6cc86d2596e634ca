// What the figures use of D3, in one place: it is part of figures.js, and each figure's own script takes it from there.
export { axisBottom, axisLeft } from "d3-axis";
export { contours } from "d3-contour";
export { drag } from "d3-drag";
export { format } from "d3-format";
export { scaleLinear, scaleLog } from "d3-scale";
export { pointer, select } from "d3-selection";
export { symbol, symbolCircle, symbolDiamond2, symbolStar, symbolTriangle } from "d3-shape";
