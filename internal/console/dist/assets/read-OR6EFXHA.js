import{c as a,d as b}from"/console/assets/chunk-DMQYW6LJ.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-KCQX7ESC.js";export{b as read,a as signedBody};
