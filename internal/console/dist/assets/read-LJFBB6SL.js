import{c as a,d as b}from"/console/assets/chunk-BH6E3DGE.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-7BAIELRV.js";export{b as read,a as signedBody};
