import{c as a,d as b}from"/console/assets/chunk-K6BT6WK5.js";import"/console/assets/chunk-2CNWH3PA.js";import"/console/assets/chunk-PVO6RRMH.js";export{b as read,a as signedBody};
