import{c as a,d as b}from"/console/assets/chunk-QRNQEIEQ.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-L6FA3OVW.js";export{b as read,a as signedBody};
