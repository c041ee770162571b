import{c as a,d as b}from"/console/assets/chunk-LFFCEL3B.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-G3UIZWL4.js";export{b as read,a as signedBody};
