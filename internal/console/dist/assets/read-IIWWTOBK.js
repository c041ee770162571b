import{c as a,d as b}from"/console/assets/chunk-GG2NSPHE.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-4BKBK754.js";export{b as read,a as signedBody};
