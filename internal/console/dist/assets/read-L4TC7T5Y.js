import{c as a,d as b}from"/console/assets/chunk-NI7JT7CI.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-C3KZYUWL.js";export{b as read,a as signedBody};
